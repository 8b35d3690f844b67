"""Functions that end their process; apart, so that a new process has little to import."""

import os


def dies_at_2(argument):
    if argument == 2:
        os._exit(1)
    return 10 * argument

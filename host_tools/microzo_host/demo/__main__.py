"""`python -m microzo_host.demo`: the command `microzo demo`."""

import sys

from ..cli import main

main(["demo", *sys.argv[1:]])

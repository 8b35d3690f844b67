"""The board that a plan is for: the options --ram, --board and --clock."""

import dataclasses

import click

from ..plan import ram as ramplan


def target_of(ram, board, clock):
    """The plan.ram.Target of the options --ram, --board and --clock."""
    if ram and board:
        raise click.BadParameter("give --ram or --board, not both")
    target = ramplan.BOARDS[board or ramplan.DEFAULT_BOARD]
    if ram:
        target = dataclasses.replace(target, ram=_number(ram, 1024, "RAM"))
    if clock:
        target = dataclasses.replace(target, clock=_number(clock, 1000, "clock"))
    return target


def _number(text, kilo, what):
    """Bytes or Hz from digits, with K or M at the end."""
    scale = {"K": kilo, "M": kilo * kilo}.get(text[-1:].upper(), 1)
    digits = text if scale == 1 else text[:-1]
    if not digits.isdigit() or not int(digits):
        raise ValueError(f"{text!r} is no {what}: give digits from 1, or such as 256K or 64M")
    return int(digits) * scale

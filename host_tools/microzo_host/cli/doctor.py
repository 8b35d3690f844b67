"""`microzo doctor PORT`: what a board has, which native module fits, what is missing."""

import dataclasses

import click

from ..board import files as board_files
from ..board import info as board_info
from ..board import link as board_link
from ..board import push
from .common import json_option, report, say


@click.command("doctor")
@click.argument("port", default="auto")
@json_option
def command(port, json_file):
    """Examine a board without changing anything on it."""
    with board_link.Link(port, reset=False) as link:
        info = board_info.ask(link)
        files = board_files.Files(link)
        installed = {t: files.state(t)[0] >= 0 for t in _package_targets()}
        free = files.free()
        header = board_info.installed_module(link)
    fitting = board_info.choose_module(info, push.built_modules())
    problems = list(_problems(info, fitting, installed, free, header))
    say(str(info), json_file)
    say(f"heap free: {info.heap_free:,} bytes; file system free: {_bytes(free)}", json_file)
    say(f"native module on the board: {info.module}", json_file)
    say(f"native module that fits: {fitting or 'there is none'}", json_file)
    for problem in problems or ["nothing is missing"]:
        say(f"- {problem}", json_file)
    report(
        {
            **dataclasses.asdict(info),
            "disk_free": free,
            "fitting_module": str(fitting) if fitting else None,
            "problems": problems,
        },
        json_file,
    )
    if problems:
        raise SystemExit(1)


def _package_targets():
    """The package's entry, compiled or as source."""
    return [f"{push.PACKAGE_TARGET}/__init__{suffix}" for suffix in (".mpy", ".py")]


def _problems(info, fitting, installed, free, header):
    if info.implementation == "micropython" and info.version[:2] < board_info.OLDEST:
        yield "MicroPython is older than 1.24: install a newer one"
    if not any(installed.values()):
        yield "the package microzo is not on the board: run `microzo push`"
    cure = "run `microzo push`" if fitting else board_info.module_cure(info)
    if header and not board_info.accepts(info, *header):
        arch, abi = header
        yield (
            f"the native module on the board is for {arch} with ABI {abi}, "
            f"it needs {info.arch} with ABI {info.abi}: {cure}"
        )
    elif info.module == "absent" and info.arch != "none":
        yield f"the native module is not on the board: {cure}"
    elif info.module not in ("absent", "built in") and not info.module.endswith(".mpy"):
        yield f"the native module on the board does not load ({info.module}): {cure}"
    if free is None:
        yield "no file system is mounted at /"


def _bytes(n):
    return "none mounted" if n is None else f"{n:,} bytes"

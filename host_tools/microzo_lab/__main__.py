"""`python -m microzo_lab COMMAND`: the studies."""

import click

from microzo_host.cli.group import Commands

COMMANDS = "accuracy quick sanity guards ceiling subspace pretrain".split()


@click.group(
    cls=Commands,
    commands_of={name: f"microzo_lab.{name}" for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
)
def main():
    """Research around microzo: studies, yardsticks, pre-training."""


if __name__ == "__main__":
    main(prog_name="python -m microzo_lab")

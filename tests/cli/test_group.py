"""Groups of commands, and options that take several values."""

import click
import pytest
from click.testing import CliRunner

from microzo_host import cli
from microzo_host.cli import group


@click.command(cls=group.SeveralValues)
@click.argument("names", nargs=-1)
@click.option("--seeds", multiple=True, type=int)
@click.option("--words", multiple=True)
@click.option("--one", default="")
def several(names, seeds, words, one):
    click.echo(f"{names} {seeds} {words} {one}")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--seeds 0 1 2", "() (0, 1, 2) () "),
        ("a b --seeds 0 1 --words x", "('a', 'b') (0, 1) ('x',) "),
        ("--seeds 0 --seeds 1", "() (0, 1) () "),
        ("--seeds=5 a", "('a',) (5,) () "),
        ("--one 1 a --words y z", "('a',) () ('y', 'z') 1"),
        ("--seeds -1 --one 2", "() (-1,) () 2"),
    ],
)
def test_options_take_several_values(given, told):
    result = CliRunner().invoke(several, given.split())
    assert (result.exit_code, result.output) == (0, told + "\n")


def test_a_value_of_another_type_is_refused():
    result = CliRunner().invoke(several, ["--seeds", "0", "x"])
    assert result.exit_code == 2 and "'x' is not a valid integer" in result.output


def test_an_unknown_corruption_of_the_demo_is_told_before_any_work(tmp_path):
    arguments = ["demo", "--corruptions", "fog", "frost", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == 1 and not (tmp_path / "out").exists()
    assert (
        result.output == "Error: unknown corruption 'frost': choose from noise, fog, translate\n"
    )

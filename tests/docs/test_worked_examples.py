"""The worked examples of CONTRIBUTING.md: what the page shows is what is there, or what runs."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def example(marker):
    """{path: code} of the files that an example shows, a numbered point each."""
    part = re.search(rf"<!-- {marker}: begin -->\n(.*?)<!-- {marker}: end -->", PAGE, re.S)[1]
    points = re.split(r"^\d\. ", part, flags=re.M)[1:]
    return {
        re.search(r"`([\w/]+\.py)`", point)[1]: textwrap.dedent(
            re.search(r"^   ```python\n(.*?)^   ```", point, re.M | re.S)[1]
        )
        for point in points
    }


def test_the_rule_is_in_the_files_that_the_page_names():
    files = example("rule")
    assert list(files) == ["device/microzo/zo/rules.py", "tests/methods/test_rules.py"]
    for path, code in files.items():
        for piece in code.strip().split("\n\n\n"):
            assert piece in (ROOT / path).read_text()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package and of what its tests need, with the method of the page."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "device", folder / "device")
    shutil.copytree(ROOT / "tests" / "support", folder / "tests" / "support")
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    files = example("method")
    assert list(files) == ["device/microzo/methods/bias.py", "tests/methods/test_bias.py"]
    for path, code in files.items():
        assert not (ROOT / path).exists()
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(code)
    return folder


def python(copy, *arguments):
    """Output of Python with the package of the copy."""
    paths = os.pathsep.join([str(copy / "device"), str(ROOT / "host_tools")])
    run = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=copy, env=dict(os.environ, PYTHONPATH=paths),
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_method_passes_its_test(copy):
    assert "1 passed" in python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")


def test_the_rest_follows_from_the_declaration(copy, model_path):
    page = python(
        copy, "-c", "from microzo_host.report import settings; print(settings.settings_page())"
    )
    assert "## bias" in page and "| always the biases |" in page
    stage = python(
        copy, "-c",
        "import json; from microzo.methods import method; "
        "print(json.dumps(method('bias').defaults()))",
    )  # fmt: skip
    recipe = {"name": "mine", "samples": 64, "holdout": 0, "stages": [json.loads(stage)]}
    (copy / "mine.json").write_text(json.dumps(recipe))
    plan = json.loads(
        python(
            copy, "-m", "microzo_host.cli", "plan", model_path, "--recipe", "mine.json",
            "--ram", "256K", "--json", "-",
        )
    )  # fmt: skip
    assert plan["fits"] and [spec["kind"] for spec in plan["stages"]] == ["bias"]
    assert plan["macs_step"]["bias"] > plan["macs_forward"]


def test_the_code_of_the_method_is_clean(copy):
    files = [copy / path for path in example("method")]
    for arguments in (["check"], ["format", "--check"]):
        python(copy, "-m", "ruff", *arguments, "--config", ROOT / "pyproject.toml", *files)

"""package.json lists what the package has."""

import json
import pathlib

import microzo

DEVICE = pathlib.Path(__file__).parents[2] / "device"


def test_package_lists_every_module_once():
    listed = json.loads((DEVICE / "package.json").read_text())
    targets = [target for target, _ in listed["urls"]]
    assert sorted(targets) == sorted(
        p.relative_to(DEVICE).as_posix() for p in (DEVICE / "microzo").rglob("*.py")
    )
    assert all((DEVICE / source).is_file() for _, source in listed["urls"])
    assert listed["version"] == microzo.__version__
    assert f'version="{microzo.__version__}"' in (DEVICE / "manifest.py").read_text()

"""How a board loads a model: mapped from ROMFS or copied; without or with a wrong module."""

import pathlib

import pytest
from mpremote.romfs import VfsRomWriter

from microzo_host.board import doctor, emulator, errors, push
from microzo_host.board import info as board_info
from microzo_host.board import romfs as romfs_image

pytestmark = pytest.mark.board
BOARD = board_info.BoardInfo("", "micropython", (1, 25, 0), "armv7emsp", "6.3", 0, "absent")
NATMODS = pathlib.Path(__file__).parents[2] / "build" / "natmod"
CODE = """
import microzo
m = microzo.load({path!r})
print(m.mapped, m.predict(bytes(range(144))), list(m.logits()))
"""


def said(path, romfs=None, **fs):
    """Lines of loading `path` and one prediction on stock firmware."""
    files = {**dict(push.plan_files(BOARD, [])[0]), **fs}
    files = {name: data for name, data in files.items() if data is not None}
    with emulator.Board(ram="256K", fs=files, romfs=romfs) as board:
        return board.exec(CODE.format(path=path), timeout=60).splitlines()


@pytest.fixture
def wanted(model):
    return f"{model.predict(bytes(range(144)))} {list(model.logits())}"


def misaligned_romfs(model_path):
    """MicroPython's own writer puts files anywhere, here behind one of an unlucky length."""
    content = pathlib.Path(model_path).read_bytes()
    for n in range(1, 9):
        writer = VfsRomWriter()
        writer.mkfile("a", bytes(n))
        writer.mkfile("m.safetensors", content)
        image = bytes(writer.finalise())
        if image.index(content) % 4:
            return image
    raise AssertionError("every length is a lucky one")


def test_aligned_romfs_is_mapped(model_path, wanted):
    image = romfs_image.make({"m.safetensors": pathlib.Path(model_path).read_bytes()})
    assert said("/rom/m.safetensors", image) == ["True " + wanted]


def test_misaligned_romfs_is_copied_and_said(model_path, wanted):
    notice, line = said("/rom/m.safetensors", misaligned_romfs(model_path))
    assert "not aligned" in notice and "microzo romfs" in notice
    assert line == "False " + wanted


def test_without_the_module_python_computes(model_path, wanted):
    files = {"m.safetensors": pathlib.Path(model_path), push.MODULE_TARGET: None}
    notice, line = said("m.safetensors", **files)
    assert "no _microzo module" in notice and "slow" in notice
    assert line == "False " + wanted


def test_wrong_module_is_told_in_one_sentence(model_path):
    wrong = NATMODS / "x64" / "_microzo.mpy"
    files = {"m.safetensors": pathlib.Path(model_path), push.MODULE_TARGET: wrong}
    with pytest.raises(errors.ScriptError, match="ImportError: .*loads armv7emsp code.*push"):
        said("m.safetensors", **files)


def test_checks_are_forgotten_after_loading(model_path):
    with emulator.Board(
        ram="256K",
        fs={**dict(push.plan_files(BOARD, [])[0]), "m.safetensors": pathlib.Path(model_path)},
    ) as board:
        text = board.exec(
            "import microzo, sys\n"
            "for _ in range(2): m = microzo.load('m.safetensors')\n"
            "print([n for n in sys.modules if 'net.check' in n])"
        )
    assert text.strip() == "[]"


def test_doctor_reads_the_header_of_a_wrong_module():
    fs = {**dict(push.plan_files(BOARD, [])[0])}
    fs["/lib/_microzo.mpy"] = NATMODS / "x64" / "_microzo.mpy"
    with emulator.Board(ram="256K", fs=fs) as board:
        (problem,) = doctor.examine(board.link()).problems
    assert problem == (
        "the native module on the board is for x64 with ABI 6.3, the board needs armv7emsp with "
        "ABI 6.3: run `microzo push`"
    )

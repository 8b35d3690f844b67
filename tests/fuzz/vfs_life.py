# One start of a board, on the unix port: its disk is a RAM disk over a host file, with the real
# file systems of MicroPython; power may go at any write of a block.
#
#   micropython vfs_life.py FAT|LFS IMAGE SETTINGS LIMIT SEED
#
# Prints what happened: "ended TICKS" or "cut"; the image has what a real disk would have then.
import json
import os
import random
import sys

import vfs

FS, IMAGE, SETTINGS, LIMIT, SEED = (
    sys.argv[1],
    sys.argv[2],
    sys.argv[3],
    int(sys.argv[4]),
    int(sys.argv[5]),
)
BLOCK, BLOCKS = (512, 1024) if FS == "FAT" else (4096, 128)
MODEL, OUT, JOURNAL = "/d/m", "/d/out", "/d/run"


class Cut(BaseException):
    pass


class Disk:
    def __init__(self, content):
        self.content = content
        self.ticks = 0

    def readblocks(self, block, buf, offset=0):
        at = block * BLOCK + offset
        buf[:] = memoryview(self.content)[at : at + len(buf)]

    def writeblocks(self, block, buf, offset=0):
        at = block * BLOCK + offset
        # A sector of a card is written whole or not at all, flash memory is torn anywhere.
        step = BLOCK if FS == "FAT" else len(buf)
        for begin in range(0, len(buf), step):
            torn = 0 if FS == "FAT" else random.randrange(step + 1)
            self._tick(at + begin, buf[begin : begin + torn])
            self.content[at + begin : at + begin + step] = buf[begin : begin + step]

    def ioctl(self, request, argument):
        if request == 6 and FS == "LFS":
            at = argument * BLOCK
            self._tick(at, b"\xff" * random.randrange(BLOCK + 1))
            self.content[at : at + BLOCK] = b"\xff" * BLOCK
        return {4: BLOCKS, 5: BLOCK}.get(request, 0)

    def _tick(self, at, torn):
        if self.ticks == LIMIT:  # from then on nothing changes, whatever the program tries
            raise Cut
        self.ticks += 1
        if self.ticks == LIMIT:
            self.content[at : at + len(torn)] = torn
            raise Cut


def mount(disk):
    if FS == "FAT":
        vfs.mount(vfs.VfsFat(disk), "/d")
    else:
        vfs.mount(vfs.VfsLfs2(disk, readsize=32, progsize=256, mtime=False), "/d")


def new():
    disk = Disk(bytearray(b"\xff" * (BLOCK * BLOCKS)))
    if FS == "FAT":
        vfs.VfsFat.mkfs(disk)
    else:
        vfs.VfsLfs2.mkfs(disk, readsize=32, progsize=256)
    mount(disk)
    with open(settings["model"], "rb") as f:
        raw = f.read()
    for path in (MODEL, OUT):
        with open(path, "wb") as f:
            f.write(raw)
    vfs.umount("/d")
    disk.ticks = 0
    return disk


def life():
    """What a board does when it starts: goes on or begins, and saves over the old result."""
    import microzo

    microzo.load(OUT)  # the one before or the new one
    data = microzo.Dataset(settings["x"], settings["y"])
    model = microzo.load(MODEL)
    options = settings["options"]
    try:
        steps = microzo.resume(model, JOURNAL, **options).run(data)
    except OSError as e:
        if "cannot open" not in str(e):
            raise
        recipe, layers = settings["recipe"], settings["layers"]
        steps = microzo.Trainer(model, recipe, layers, journal=JOURNAL, **options).run(data)
    for _ in steps:
        pass
    model.save(OUT)


with open(SETTINGS) as f:
    settings = json.load(f)
random.seed(SEED)
try:
    with open(IMAGE, "rb") as f:
        disk = Disk(bytearray(f.read()))
except OSError:
    limit, LIMIT = LIMIT, -1
    disk = new()
    LIMIT = limit
try:
    mount(disk)
    life()
    # What a host reads of it.
    with open(OUT, "rb") as f, open(settings["out"], "wb") as g:
        g.write(f.read())
    with open(JOURNAL, "rb") as f, open(settings["journal"], "wb") as g:
        g.write(f.read())
    names = sorted(os.listdir("/d"))
    if any(n.lower().endswith(".tmp") for n in names):
        raise ValueError("left behind: %s" % names)
    print("ended", disk.ticks)
except BaseException:
    if disk.ticks != LIMIT:
        raise
    print("cut")
with open(IMAGE, "wb") as f:
    f.write(disk.content)

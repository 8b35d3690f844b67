# Runs on MicroPython: a run goes on beside the object that began it, on a board's file systems.
#
#   micropython stale_writer.py FAT|LFS MODEL X Y
import gc
import sys

import vfs

import microzo

FS, MODEL, X, Y = sys.argv[1:5]
BLOCK = 512 if FS == "FAT" else 4096


class Disk:
    def __init__(self):
        self.content = bytearray(b"\xff" * (1 << 19))

    def readblocks(self, block, buf, offset=0):
        at = block * BLOCK + offset
        buf[:] = memoryview(self.content)[at : at + len(buf)]

    def writeblocks(self, block, buf, offset=0):
        at = block * BLOCK + offset
        self.content[at : at + len(buf)] = buf

    def ioctl(self, request, argument):
        return {4: len(self.content) // BLOCK, 5: BLOCK}.get(request, 0)


def read():
    with open("/d/run", "rb") as f:
        return f.read()


def leave():
    """A run of some steps, whose objects nothing names any more."""
    trainer = microzo.Trainer(microzo.load(MODEL), recipe, journal="/d/run", sync_every=50)
    for step in trainer.run(data):
        if step.step == 4:
            break
    return trainer


disk = Disk()
(vfs.VfsFat if FS == "FAT" else vfs.VfsLfs2).mkfs(disk)
vfs.mount((vfs.VfsFat if FS == "FAT" else vfs.VfsLfs2)(disk), "/d")
data = microzo.Dataset(X, Y)
recipe = microzo.recipe("spsa")
recipe["samples"] = 40
recipe["stages"][0].update({"steps": 6, "probes": 3, "samples": 2})
first = leave()
for _ in microzo.resume(microzo.load(MODEL), "/d/run").run(data):
    pass
content = read()
del first
for _ in range(3):
    gc.collect()
    bytearray(1000)
same = read() == content and microzo.replay(microzo.load(MODEL), "/d/run") is True
print("same" if same else "spoilt")

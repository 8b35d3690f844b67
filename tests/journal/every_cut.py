# Runs on MicroPython: power goes at every write of a block while a file is replaced.
#
#   micropython every_cut.py FAT|LFS MODEL JOURNAL END
#
# The model is saved over itself, a checkpoint over an older one, a journal is cut at END. The
# folder has entries in several sectors, so that on FAT a rename would write two of them.
import os
import sys

import vfs

import microzo
from microzo.journal import checkpoint, whole
from microzo.journal import file as journals

FS, MODEL, JOURNAL, END = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
BLOCK, BLOCKS = (512, 1024) if FS == "FAT" else (4096, 128)
PATH = "/d/file"


class Cut(BaseException):
    pass


class Disk:
    def __init__(self, content):
        self.content = content
        self.left = -1  # writes until the cut
        self.gone = False  # files that are collected write no more

    def readblocks(self, block, buf, offset=0):
        at = block * BLOCK + offset
        buf[:] = memoryview(self.content)[at : at + len(buf)]

    def writeblocks(self, block, buf, offset=0):
        if self.gone:
            return
        for begin in range(0, len(buf), BLOCK):
            self.tick()
            at = block * BLOCK + offset + begin
            part = buf[begin : begin + BLOCK]
            self.content[at : at + len(part)] = part

    def ioctl(self, request, argument):
        if request == 6 and FS == "LFS" and not self.gone:
            self.tick()
            self.content[argument * BLOCK : (argument + 1) * BLOCK] = b"\xff" * BLOCK
        return {4: BLOCKS, 5: BLOCK}.get(request, 0)

    def tick(self):
        if self.left == 0:
            raise Cut
        self.left -= 1


def mount(disk):
    if FS == "FAT":
        vfs.mount(vfs.VfsFat(disk), "/d")
    else:
        vfs.mount(vfs.VfsLfs2(disk, readsize=32, progsize=256, mtime=False), "/d")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def image(content):
    """A disk with the file and others around it."""
    disk = Disk(bytearray(b"\xff" * (BLOCK * BLOCKS)))
    if FS == "FAT":
        vfs.VfsFat.mkfs(disk)
    else:
        vfs.VfsLfs2.mkfs(disk, readsize=32, progsize=256)
    mount(disk)
    for i in range(15):
        with open("/d/a%d" % i, "wb") as f:
            f.write(b"a")
    with open(PATH, "wb") as f:
        f.write(content)
    vfs.umount("/d")
    return bytes(disk.content)


def save():
    model.save(PATH)


def load():
    microzo.load(PATH)


def write_checkpoint():
    checkpoint.write(PATH, model, 99, 7)


def settle_checkpoint():
    if "file.tmp" in os.listdir("/d"):
        whole.settle_checkpoint(model.k, PATH)


def cut_tail():
    journals.cut_tail(PATH, END)


def read_journal():
    journals.Reader(model.k, PATH).close()


model = microzo.load(MODEL)
model.place([(model.ops - 1, 3)])
checkpoint.write(JOURNAL + ".old", model, 12, 7)
older = read(JOURNAL + ".old")
model.state[1] ^= 16  # sixteen steps of an int8
for name, content, replace, look in (
    ("save", read(MODEL), save, load),
    ("checkpoint", older, write_checkpoint, settle_checkpoint),
    ("cut", read(JOURNAL), cut_tail, read_journal),
):
    begin = image(content)
    disk = Disk(bytearray(begin))
    mount(disk)
    replace()
    new = read(PATH)
    vfs.umount("/d")
    assert new != content
    cuts = olds = 0
    while True:
        disk = Disk(bytearray(begin))
        mount(disk)
        disk.left = cuts
        try:
            replace()
            cut = False
        except Cut:
            cut = True
        disk.gone = True
        vfs.umount("/d")
        after = Disk(disk.content)
        mount(after)
        look()
        left = read(PATH)
        names = os.listdir("/d")
        vfs.umount("/d")
        if left != new and left != content or len(names) != 16:
            raise ValueError("%s, cut %d: %d bytes, %s" % (name, cuts, len(left), names))
        olds += left == content
        if not cut:
            break
        cuts += 1
    print(name, cuts, olds)

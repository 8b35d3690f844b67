# Runs on MicroPython: reads records of a littlefs file in every order of two.
import vfs

from microzo.board import files

BLOCK, RECORD, COUNT = 4096, 1024, 24


class Disk:
    def __init__(self, blocks):
        self.data = bytearray(blocks * BLOCK)

    def readblocks(self, block, buf, off=0):
        at = block * BLOCK + off
        buf[:] = self.data[at : at + len(buf)]

    def writeblocks(self, block, buf, off=0):
        at = block * BLOCK + off
        self.data[at : at + len(buf)] = buf

    def ioctl(self, request, block):
        if request == 4:
            return len(self.data) // BLOCK
        if request == 5:
            return BLOCK
        return 0


disk = Disk(64)
vfs.VfsLfs2.mkfs(disk, progsize=256)
vfs.mount(vfs.VfsLfs2(disk, progsize=256, mtime=False), "/d")
with open("/d/x", "wb") as f:
    for i in range(COUNT):
        f.write(bytes([i]) * RECORD)
got = bytearray(RECORD)
wrong = 0
with open("/d/x", "rb") as f:
    for a in range(COUNT):
        for b in range(COUNT):
            for i in (a, b):
                files.seek(f, i * RECORD)
                wrong += f.readinto(got) != RECORD or got != bytes([i]) * RECORD
print("%d wrong" % wrong)

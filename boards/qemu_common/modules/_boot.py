# Runs before boot.py: mounts the disk at /, formatting one that has no file system.
import board, sys, vfs

try:
    disk = vfs.VfsLfs2(board.disk, progsize=256, mtime=False)
except OSError:
    vfs.VfsLfs2.mkfs(board.disk, progsize=256)
    disk = vfs.VfsLfs2(board.disk, progsize=256, mtime=False)
vfs.mount(disk, "/")
sys.path.append("/lib")

"""A ROMFS image whose files all begin on 8-byte boundaries, so that models can be mapped.

MicroPython's own writer places payloads anywhere. Here every payload is a data
record of the image's top level, preceded by padding, and file entries point to
it; the image's header is always 8 bytes. Any MicroPython with ROMFS mounts it.
"""

import pathlib

from mpremote.romfs import VfsRomWriter

ALIGNMENT = 8
LENGTH_BYTES = 5  # of the image's length, so that the header has 3 + 5 bytes


class _AlignedWriter(VfsRomWriter):
    def place(self, data):
        """Add a data record that begins aligned; returns what mkfile() takes."""
        lengths = len(self._encode_uint(len(data)))
        gap = -(len(self._dir_stack[0][1]) + 1 + lengths) % ALIGNMENT
        if gap:
            body = gap - 2 if gap >= 2 else gap + ALIGNMENT - 2  # its kind and length take 2
            self._extend(self._pack(self.ROMFS_RECORD_KIND_PADDING, bytes(body)))
        return len(data), self.mkdata(data)

    def finalise(self):
        _, data = self._dir_stack.pop()
        length = self._encode_uint(len(data))
        return self.ROMFS_HEADER + b"\x80" * (LENGTH_BYTES - len(length)) + length + data


def make(files):
    """Image bytes from ``{"dir/name": bytes}``."""
    writer, tree = _AlignedWriter(), {}
    for path in sorted(files):
        *folders, name = path.strip("/").split("/")
        node = tree
        for folder in folders:
            node = node.setdefault(folder, {})
        node[name] = writer.place(bytes(files[path]))
    _add(writer, tree)
    return writer.finalise()


def write(path, files):
    """Write an image file from ``{"dir/name": bytes}``."""
    pathlib.Path(path).write_bytes(make(files))


def _add(writer, node):
    for name, entry in sorted(node.items()):
        if isinstance(entry, dict):
            writer.opendir(name)
            _add(writer, entry)
            writer.closedir()
        else:
            writer.mkfile(name, entry)

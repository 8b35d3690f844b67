"""Boards: the serial link, files on them, push, ROMFS images, and the emulated ones."""

"""The main job, end to end, on an emulated 256-KB board: `microzo demo`.

prepare   float weights -> int8 model; corrupted adaptation and test samples, as .npy
session   one board: files on its disk, train.py through the mpremote command, what it left behind
progress  live lines or bars of sessions that run side by side
count     instructions of a step, from a short run under -icount
run       the order of all that
outcome   the table, result.json, and whether the demo passed
"""

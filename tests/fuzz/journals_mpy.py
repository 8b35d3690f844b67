# Runs on MicroPython: uses every journal of a folder in three ways; tells what is no sentence.
#
#   micropython journals_mpy.py FOLDER MODEL X Y
import os
import sys

import microzo

FOLDER, MODEL, X, Y = sys.argv[1:5]
data = microzo.Dataset(X, Y)


def replay(path):
    microzo.replay(microzo.load(MODEL), path)


def replay_with_data(path):
    microzo.replay(microzo.load(MODEL), path, data)


def go_on(path):
    steps = microzo.resume(microzo.load(MODEL), path).run(data)
    for _ in zip(range(3), steps):
        pass


taken = refused = 0
for name in sorted(os.listdir(FOLDER)):
    for use in (replay, replay_with_data, go_on):
        try:
            use(FOLDER + "/" + name)
            taken += 1
        except (ValueError, OSError, MemoryError) as e:
            refused += 1
            if not str(e).strip() or "\n" in str(e):
                print(name, "no sentence:", repr(e))
        except Exception as e:
            print(name, type(e), e)
print("taken", taken, "refused", refused)

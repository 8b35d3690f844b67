# Runs on the board before train.py: the largest heap in use at the end of a step, garbage collected.
import gc

import board
import microzo

peak = 0


def _watched(run):
    def watched(self, *args, **settings):
        global peak
        for step in run(self, *args, **settings):
            gc.collect()
            peak = max(peak, gc.mem_alloc())
            yield step

    return watched


microzo.Trainer.run = _watched(microzo.Trainer.run)


def ram_peak():
    """Bytes: data and bss, deepest stack, largest heap; and all RAM there is."""
    total, static, stack, _ = board.ram()
    return static + stack + peak, total

"""spsa: two perturbed passes a sample, all chosen values at once.

Several probes share the samples of a step. One-sided (antithetic 0) it is the quantized RGE of
arXiv 2411.05873 and FZOO's (arXiv 2506.09034).
"""

from .zeroth_method import OPTIONS, ZerothMethod

PICKS = ("", "gradient", "test")


class Spsa(ZerothMethod):
    kind = "spsa"
    options = OPTIONS + (
        ("pick", "", PICKS),  # chooses the operators before the run (search/layers.py)
        ("top", 5, 1, 255),  # at most so many are chosen
        ("macs", 0, 0, (1 << 30) - 1),  # of a pass from the first that is chosen; 0: any
    )

    def check_together(self, stage):
        ZerothMethod.check_together(self, stage)
        if ("top" in stage or "macs" in stage) and not stage.get("pick"):
            raise ValueError("%s: top and macs need a pick" % self.kind)


METHOD = Spsa()

# ruff: noqa: F821  (the names are those of MicroPython's manifest files)
metadata(
    description="Trains quantized networks on the board, with forward passes and integers",
    version="0.1.0",
)

package("microzo")

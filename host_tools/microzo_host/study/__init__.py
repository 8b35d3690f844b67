"""Studies: what the recipes reach, measured on the host over the board's C kernels."""

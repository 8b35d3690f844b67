"""Training runs on this computer, over the same C kernels: the bits of a board, side by side."""

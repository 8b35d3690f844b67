"""Data sets, corruptions and the demo network: for `microzo demo` and `simulate -c`."""

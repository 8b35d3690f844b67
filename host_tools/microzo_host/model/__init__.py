"""Models: the float network, its quantization, and the files of both."""

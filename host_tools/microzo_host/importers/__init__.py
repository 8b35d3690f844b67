"""Import of foreign model files: one function a format, each gives a ``modelfile.Model``."""

"""The label of a sample that comes from outside."""


def check_label(y, classes):
    """The class as an int; ValueError for a label that is none."""
    try:
        if 0 <= y < classes and int(y) == y:
            return int(y)
    except TypeError:
        pass  # None, a text
    raise ValueError("label %r is not one of the classes, integers 0..%d" % (y, classes - 1))

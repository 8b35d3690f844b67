"""Sentences on samples and labels that do not fit: what they could be taken for, and the cure.
Imported when something does not fit, and forgotten."""

from . import words as L

_FLOATS = "images of 0..1 become uint8 by (255 * x).round().astype('uint8')"


def takes(model):
    """(rows, columns, channels) of the model's input."""
    return tuple(model.plan[L.NET_IN_H : L.NET_IN_C + 1])


def as_bytes(model, sample):
    """The raw bytes of a sample that came as a list or an array; TypeError or ValueError if it is
    none for this model."""
    if sample is None or isinstance(sample, (str, int, float)):
        raise TypeError(
            "a sample is its raw bytes, not %r; microzo.Dataset reads files" % (sample,)
        )
    if isinstance(sample, (list, tuple)):
        try:
            raw = bytes(sample)
        except (TypeError, ValueError):
            raise ValueError(
                "a sample of %s is %d integers of 0..255, not a list of other things; %s"
                % (model.path, model.sample_len, _FLOATS)
            )
    else:
        if getattr(sample, "itemsize", 1) != 1:
            raise ValueError(
                "a sample is bytes, this array has values of %d bytes; %s"
                % (sample.itemsize, _FLOATS)
            )
        shape = getattr(sample, "shape", ())
        if len(shape) > 1 and not same_shape(shape, takes(model)):
            raise of_shape("the array", (1,) + tuple(shape), len(bytes(sample)), model)
        raw = sample.tobytes() if hasattr(sample, "tobytes") else bytes(sample)
    if len(raw) != model.sample_len:
        raise ValueError(
            "a sample of %s has %d bytes, not %d: %d x %d x %d (rows, columns, channels)"
            % ((model.path, model.sample_len, len(raw)) + takes(model))
        )
    return raw


def same_shape(shape, other):
    """True if they differ in axes of length 1 alone; (28, 28) is (28, 28, 1)."""
    return [n for n in shape if n > 1] == [n for n in other if n > 1]


def of_shape(name, shape, length, model):
    """ValueError: the samples of an array of that whole shape, `length` bytes each, are not what
    the model takes."""
    h, w, c = takes(model)
    one = tuple(shape[1:])
    cure = "save them as the model takes them"
    if len(one) == 3 and same_shape(one, (c, h, w)):
        cure = "the channels come first here, x.transpose(0, 2, 3, 1) puts them last"
    elif c == 1 and one == (h, w, 3):
        cure = "x.mean(axis=3).round().astype('uint8') makes grey images of colours"
    elif c == 3 and same_shape(one, (h, w)):
        cure = "x[..., None].repeat(3, axis=3) makes three channels of one"
    elif len(shape) > 1 and same_shape(shape, (h, w, c)):
        cure = "this is one sample, x[None] makes an array of one"
    return ValueError(
        "%s has samples of %d bytes %s, the model takes %d x %d x %d (rows, columns, channels): %s"
        % (name, length, one, h, w, c, cure)
    )


def of_kind(name, kind, shape):
    """ValueError: an array that holds no samples."""
    cure = "numpy.clip(x, 0, 255).astype('uint8') if its values are pixels"
    if kind == "u1":
        cure = "is it the file of labels? samples come first, Dataset(x, y)"
    return ValueError(
        "%s holds %s of shape %s, samples are uint8 of shape N x rows x columns x channels: %s"
        % (name, kind, shape, cure)
    )


def of_floats(name, kind):
    """ValueError: an array of a kind that is neither a sample nor a label."""
    return ValueError(
        "%s holds %s: samples are uint8, labels are integers; %s, labels by y.astype('uint8')"
        % (name, kind, _FLOATS)
    )


def of_count(name, n, most):
    """ValueError: too many samples, or none."""
    return ValueError(
        "%s has %d samples, a data source has 1 to %d: save a part of them" % (name, n, most)
    )


def of_labels(name, shape, x, n):
    """ValueError: labels of another number or shape."""
    cure = "one label for each sample"
    if len(shape) == 2 and shape[0] == n:
        cure = "y.argmax(axis=1) makes class numbers of one column a class"
    return ValueError("%s has shape %s, %s needs %d labels: %s" % (name, shape, x, n, cure))


def of_label(i, label, classes):
    """ValueError: the label of sample i is no class of the model."""
    if label is None or label < 0:
        cure = "evaluation needs labels, microzo.Dataset(x, y)"
    elif label == 65535:  # what a Dataset makes of them
        cure = "a label in the file is negative or huge, they count from 0"
    else:
        cure = "labels count from 0, save y - 1 if yours count from 1"
    return ValueError(
        "sample %s has label %s, the model has classes 0..%d: %s" % (i, label, classes - 1, cure)
    )


def of_type(x):
    """TypeError: a Dataset of something that is no file."""
    return TypeError(
        "Dataset takes names of .npy files, not %s: microzo.ArrayData(x, y) takes arrays" % type(x)
    )

"""Sentences on samples and labels that do not fit: what they could be taken for, and the cure.
Imported when something does not fit, and forgotten."""

from . import words as L

_FLOATS = "images of 0..1 become uint8 by (255 * x).round().astype('uint8')"


def takes(model):
    """(rows, columns, channels) of the model's input."""
    return tuple(model.plan[L.NET_IN_H : L.NET_IN_C + 1])


def as_bytes(model, sample):
    """The raw bytes of a sample that came as a list; TypeError or ValueError if it is none for
    this model."""
    if not isinstance(sample, (list, tuple)):
        raise TypeError(
            "a sample is its raw bytes, not %r; microzo.Dataset reads files" % (sample,)
        )
    try:
        raw = bytes(sample)
    except (TypeError, ValueError):
        raise ValueError(
            "a sample of %s is %d integers of 0..255, not a list of other things; %s"
            % (model.path, model.sample_len, _FLOATS)
        )
    if len(raw) != model.sample_len:
        raise of_length(model, len(raw))
    return raw


def of_length(model, n):
    """ValueError: a sample of n bytes or values."""
    return ValueError(
        "a sample of %s has %d bytes, not %d: %d x %d x %d (rows, columns, channels)"
        % ((model.path, model.sample_len, n) + takes(model))
    )


def same_shape(shape, other):
    """True if they differ in axes of length 1 alone; (28, 28) is (28, 28, 1)."""
    return [n for n in shape if n > 1] == [n for n in other if n > 1]


def of_shape(name, shape, length, model):
    """ValueError: the samples of an array of that whole shape, `length` bytes each, are not what
    the model takes."""
    h, w, c = takes(model)
    one = tuple(shape[1:])
    cure = "give them as the model takes them, or flat in that order"
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


def of_dtype(name, kind):
    """ValueError: an array of items that are neither raw bytes nor values."""
    cure = "samples are uint8, floats or int16"
    if kind == "int8":
        cure = "model.encode(x) takes int8 as quantized values, dtype=uint8 makes raw bytes"
    elif kind == "bool":
        cure = "255 * numpy.array(x, dtype=numpy.uint8) makes pixels of it"
    return ValueError("%s holds %s: %s" % (name, kind, cure))


def of_range(model, clipped, count):
    """ValueError: values that are hardly meant for this model."""
    return ValueError(
        "%d of %d values are outside of %.4g to %.4g, which the model knows: raw bytes are uint8, "
        "model.encode(x) clips" % ((clipped, count) + model.encoder().range())
    )


def of_no_model(kind):
    """ValueError: values that are read before anyone told whose they are."""
    return ValueError(
        "the array holds %s, which need the scale of a model: microzo.ArrayData(x, y, model=model)"
        % kind
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


def of_source(data):
    """TypeError: something that is no data source."""
    return TypeError(
        "data is a microzo.Dataset, or has __len__ and read_into(i, buf), not %r" % (data,)
    )


def of_evaluation(n):
    """TypeError or ValueError: something in place of the number of samples to evaluate."""
    if isinstance(n, int):
        return ValueError("there are no samples to evaluate")
    return TypeError("evaluate takes a data source, such as microzo.ArrayData(x, y)")


def of_type(x):
    """TypeError: a Dataset of something that is no file."""
    return TypeError(
        "Dataset takes names of .npy files, not %s: microzo.ArrayData(x, y) takes arrays" % type(x)
    )

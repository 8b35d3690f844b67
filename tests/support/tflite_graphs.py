"""Random small quantized graphs for the import tests, every operator in many shapes."""

import numpy as np
from tflite_build import Builder

SAME, VALID = 0, 1
ACTIVATIONS = (0, 1, 2, 3)  # none, ReLU, ReLU-1-1, ReLU6


class Graphs:
    """A Builder with random quantization: ``x`` is the tensor that the next layer reads."""

    def __init__(self, seed, shape, zero_point=None):
        self.rng = np.random.default_rng(seed)
        self.b = Builder()
        self.x = self.activation(shape, zero_point)
        self.b.inputs = [self.x]

    def zero_point(self):
        return int(self.rng.choice([-128, 127, 0, self.rng.integers(-128, 128)]))

    def activation(self, shape, zero_point=None, scale=None):
        """A new int8 activation tensor."""
        scale = self.rng.uniform(0.01, 0.1) if scale is None else scale
        return self.b.tensor(shape, scale, self.zero_point() if zero_point is None else zero_point)

    def shape(self, t=None):
        return self.b.tensors[self.x if t is None else t].shape

    def scale(self, t=None):
        return float(self.b.tensors[self.x if t is None else t].quantization.scale[0])

    def zp(self, t=None):
        return int(self.b.tensors[self.x if t is None else t].quantization.zeroPoint[0])

    def step(self, kind, inputs, out, **options):
        self.x = self.b.op(kind, inputs, out, **options)
        return self.x

    def parameters(self, shape, channels, axis, k, per_channel=True, bias=True):
        """(weights, bias, s_y): tensors of a layer, and an output scale that fits."""
        scales = self.rng.uniform(0.002, 0.02, channels if per_channel else 1).astype(np.float32)
        values = self.rng.integers(-127, 128, shape)
        w = self.b.tensor(shape, scales, 0, data=values, axis=axis if per_channel else 0)
        in_scale = np.float32(self.scale())
        spread = 60 * 73 * np.sqrt(k)
        b = -1
        if bias:
            amounts = self.rng.integers(-int(spread), int(spread) + 1, channels)
            b = self.b.tensor([channels], scales * in_scale, 0, data=amounts, dtype="INT32")
        out_scale = float(in_scale * scales.max()) * spread / self.rng.uniform(40, 120)
        return w, b, out_scale

    def conv(self, channels, kernel, stride=(1, 1), padding=SAME, act=0, **kw):
        n, h, w, c = self.shape()
        size = self.size((h, w), kernel, stride, padding)
        parts = self.parameters(
            [channels, *kernel, c], channels, 0, kernel[0] * kernel[1] * c, **kw
        )
        out = self.activation([n, *size, channels], scale=parts[2])
        return self.step("CONV_2D", [self.x, *parts[:2]], out, **self.window(stride, padding, act))

    def depthwise(self, multiplier, kernel, stride=(1, 1), padding=SAME, act=0, **kw):
        n, h, w, c = self.shape()
        size = self.size((h, w), kernel, stride, padding)
        shape = [1, *kernel, c * multiplier]
        parts = self.parameters(shape, c * multiplier, 3, kernel[0] * kernel[1], **kw)
        out = self.activation([n, *size, c * multiplier], scale=parts[2])
        options = self.window(stride, padding, act) | {"depthMultiplier": multiplier}
        return self.step("DEPTHWISE_CONV_2D", [self.x, *parts[:2]], out, **options)

    def dense(self, channels, act=0, rows=1, per_channel=False, bias=True):
        k = int(np.prod(self.shape())) // rows
        parts = self.parameters([channels, k], channels, 0, k, per_channel, bias)
        out = self.activation([rows, channels], scale=parts[2])
        return self.step("FULLY_CONNECTED", [self.x, *parts[:2]], out, fusedActivationFunction=act)

    def pool(self, kind, kernel, stride, padding=VALID, act=0):
        n, h, w, c = self.shape()
        size = self.size((h, w), kernel, stride, padding)
        out = self.activation([n, *size, c], self.zp(), self.scale())
        options = self.window(stride, padding, act) | dict(
            filterHeight=kernel[0], filterWidth=kernel[1]
        )
        del options["dilationHFactor"], options["dilationWFactor"]
        return self.step(kind, [self.x], out, **options)

    def binary(self, kind, other, act=0, shape=None):
        out = self.activation(shape or self.shape(), scale=self.scale() * self.rng.uniform(0.7, 2))
        return self.step(kind, [self.x, other], out, fusedActivationFunction=act)

    def pad(self, pads, value=None):
        t, b, left, r = pads
        n, h, w, c = self.shape()
        rows = self.b.tensor([4, 2], data=[[0, 0], [t, b], [left, r], [0, 0]], dtype="INT32")
        out = self.activation([n, h + t + b, w + left + r, c], self.zp(), self.scale())
        if value is None:
            return self.step("PAD", [self.x, rows], out)
        fill = self.b.tensor([1], self.scale(), self.zp(), data=[value])
        return self.step("PADV2", [self.x, rows, fill], out)

    def mean(self, axes=(1, 2), keep=True):
        numbers = self.b.tensor([len(axes)], data=axes, dtype="INT32")
        axes = [a % 4 for a in axes]
        shape = [1 if i in axes else n for i, n in enumerate(self.shape())]
        if not keep:
            shape = [n for i, n in enumerate(self.shape()) if i not in axes]
        out = self.activation(shape, scale=self.scale() * self.rng.uniform(0.3, 1.2))
        return self.step("MEAN", [self.x, numbers], out, keepDims=keep)

    def unary(self, kind, zero_point=None, scale=None, **options):
        scale = self.scale() * self.rng.uniform(0.5, 2) if scale is None else scale
        return self.step(
            kind, [self.x], self.activation(self.shape(), zero_point, scale), **options
        )

    def reshape(self, shape, kind="RESHAPE"):
        out = self.activation(shape, self.zp(), self.scale())
        if kind == "SQUEEZE":
            return self.step(kind, [self.x], out)
        numbers = self.b.tensor([len(shape)], data=shape, dtype="INT32")
        return self.step(kind, [self.x, numbers], out)

    def transpose(self, axes):
        numbers = self.b.tensor([len(axes)], data=axes, dtype="INT32")
        out = self.activation([self.shape()[i] for i in axes], self.zp(), self.scale())
        return self.step("TRANSPOSE", [self.x, numbers], out)

    def concatenate(self, tensors, axis):
        shape = list(self.shape(tensors[0]))
        shape[axis] = sum(self.shape(t)[axis] for t in tensors)
        out = self.activation(shape, self.zp(tensors[0]), self.scale(tensors[0]))
        return self.step("CONCATENATION", tensors, out, axis=axis)

    def pack(self):
        """The file; the last tensor made is the output."""
        self.b.outputs = [self.x]
        return self.b.pack()

    @staticmethod
    def window(stride, padding, act):
        return dict(
            padding=padding, strideH=stride[0], strideW=stride[1], fusedActivationFunction=act,
            dilationHFactor=1, dilationWFactor=1,
        )  # fmt: skip

    @staticmethod
    def size(size, kernel, stride, padding):
        if padding == SAME:
            return [-(-n // s) for n, s in zip(size, stride)]
        return [-(-(n - k + 1) // s) for n, k, s in zip(size, kernel, stride)]

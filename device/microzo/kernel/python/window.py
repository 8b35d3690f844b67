"""Where kernels meet the image."""

from ...net import words as L


def window(o, i, at):
    """At output row (i = 0) or column (i = 1) `at`: first row of the kernel in the image, its end,
    and where in the image the kernel's row 0 is."""
    begin = at * o[L.S_H + i] - o[L.P_T + 2 * i]
    return max(0, -begin), min(o[L.K_H + i], o[L.IN_H + i] - begin), begin


def steps(o, c):
    """(weights at one position of the kernel, distance of two of them in the image, the first)."""
    if o[L.KIND] == L.DWCONV:
        return 1, o[L.IN_C], c // (o[L.OUT_C] // o[L.IN_C])
    return o[L.IN_C], 1, 0


def accumulators(o, x, c, w, bias):
    """Yields the sum of channel c at every output position; x: the input as array('b')."""
    zp, inputs, width, k, stride = o[L.IN_ZP], o[L.IN_C], o[L.IN_W], o[L.K_W], o[L.S_W]
    unit, step, source = steps(o, c)
    for oy in range(o[L.OUT_H]):
        y0, y1, top = window(o, 0, oy)
        left = -o[L.P_L]
        for _ in range(o[L.OUT_W]):
            x0 = -left if left < 0 else 0  # as `window`, without a call for every output
            x1 = k if left + k < width else width - left
            acc = bias
            for ky in range(y0, y1):
                at = ((top + ky) * width + left + x0) * inputs + source
                for i in range((ky * k + x0) * unit, (ky * k + x1) * unit):
                    acc += w[i] * (x[at] - zp)
                    at += step
            yield acc
            left += stride

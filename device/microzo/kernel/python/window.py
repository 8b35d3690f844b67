"""Where kernels meet the image."""

from ...net import words as L


def dilation(o, i):
    """Image rows (i = 0) or columns (i = 1) from one of the kernel to the next."""
    return max(1, o[L.DIL_H + i]) if o[L.KIND] <= L.DENSE else 1


def window(o, i, at):
    """At output row (i = 0) or column (i = 1) `at`: first row of the kernel in the image, its end,
    and where in the image the kernel's row 0 is."""
    begin = at * o[L.S_H + i] - o[L.P_T + 2 * i]
    apart = dilation(o, i)
    end = (o[L.IN_H + i] - begin + apart - 1) // apart
    return max(0, -(begin // apart)), min(o[L.K_H + i], end), begin


def steps(o, c):
    """(weights at one position of the kernel, distance of two of them in the image, the first)."""
    if o[L.KIND] == L.DWCONV:
        return 1, o[L.IN_C], c // (o[L.OUT_C] // o[L.IN_C])
    return o[L.IN_C], 1, 0


def accumulators(o, x, c, w, bias):
    """Yields the sum of channel c at every output position; x: the input as array('b')."""
    zp, inputs, width, k, stride = o[L.IN_ZP], o[L.IN_C], o[L.IN_W], o[L.K_W], o[L.S_W]
    unit, step, source = steps(o, c)
    down, apart = dilation(o, 0), dilation(o, 1)
    gap = (apart - 1) * inputs
    for oy in range(o[L.OUT_H]):
        y0, y1, top = window(o, 0, oy)
        left = -o[L.P_L]
        for ox in range(o[L.OUT_W]):
            if apart == 1:
                x0 = -left if left < 0 else 0  # as `window`, without a call for every output
                x1 = k if left + k < width else width - left
            else:
                x0, x1, _ = window(o, 1, ox)
            run = unit if gap else max(1, (x1 - x0) * unit)  # weights side by side in the image
            acc = bias
            for ky in range(y0, y1):
                at = ((top + ky * down) * width + left + x0 * apart) * inputs + source
                for first in range((ky * k + x0) * unit, (ky * k + x1) * unit, run):
                    for i in range(first, first + run):
                        acc += w[i] * (x[at] - zp)
                        at += step
                    at += gap
            yield acc
            left += stride

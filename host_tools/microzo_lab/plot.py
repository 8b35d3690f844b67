"""A scatter plot as plain SVG: logarithmic x, one labelled point a recipe, dashed levels."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 130, 30, 50
_UNITS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def scatter(title, x_label, points, levels):
    """SVG text. points: (label, x > 0, y in per cent); levels: (label, y)."""
    ys = [y for _, _, y in points] + [y for _, y in levels]
    low, high = math.floor(min(ys) / 5) * 5, math.ceil(max(ys) / 5 + 0.01) * 5
    first = math.floor(math.log10(min(x for _, x, _ in points)))
    last = math.ceil(math.log10(max(x for _, x, _ in points)) + 0.01)

    def place(x, y):
        across = (math.log10(x) - first) / (last - first)
        up = (y - low) / (high - low)
        return (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )

    parts = [
        _text(WIDTH / 2, 18, title, "middle"),
        _text(WIDTH / 2, HEIGHT - 12, x_label, "middle"),
    ]
    for power in range(first, last + 1):
        x, y = place(10**power, low)
        parts += [_line(x, TOP, x, y, "#ddd"), _text(x, y + 16, _short(10**power), "middle")]
    for tick in range(low, high + 1, 5):
        x, y = place(10**first, tick)
        parts += [_line(x, y, WIDTH - RIGHT, y, "#ddd"), _text(x - 6, y + 4, f"{tick} %", "end")]
    for label, level in levels:
        x, y = place(10**first, level)
        parts.append(_line(x, y, WIDTH - RIGHT, y, "#c33", 'stroke-dasharray="6 4"'))
        parts.append(_text(WIDTH - RIGHT + 4, y + 4, label, "start"))
    taken = []
    for label, x, y in sorted(points, key=lambda p: -p[2]):
        px, py = place(x, y)
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="#269"/>')
        while any(abs(px - qx) < 90 and abs(py - qy) < 12 for qx, qy in taken):
            py += 4  # labels do not cover each other
        taken.append((px, py))
        parts.append(_text(px + 7, py + 4, label, "start"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _short(number):
    for size, unit in _UNITS:
        if number >= size:
            return f"{number // size}{unit}"
    return str(number)


def _line(x0, y0, x1, y1, colour, more=""):
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" {more}/>'
    )


def _text(x, y, text, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

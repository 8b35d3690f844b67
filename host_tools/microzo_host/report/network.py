"""A drawing of a network as SVG: a box for each operator, as high as its image and as wide as its
channels, in the order in which they run; arcs for inputs that come from further back."""

import math
from xml.sax import saxutils

from ..visible import visible
from . import tables

ROW = 12  # cells side by side
CELL, HIGH, LABELS, ABOVE = 84, 92, 62, 30  # pixels
COLOURS = {
    "CONV": "#0072b2", "DWCONV": "#56b4e9", "DENSE": "#d55e00", "ADD": "#009e73",
    "MUL": "#009e73", "CONCAT": "#009e73",
}  # fmt: skip
OTHER = "#b8b8b8"
WORDS = {"CONV": "convolution", "DWCONV": "depthwise", "DENSE": "dense"}
FONT = "font-family='system-ui, DejaVu Sans, sans-serif'"


def svg(model):
    """The drawing of a model.file.Model as the text of an .svg file."""
    parts = [tables.described(model, op) for op in model.ops]
    boxes = [_box(i, part["output"], model) for i, part in enumerate(parts)]
    made_by = {op.out: i for i, op in enumerate(model.ops)}
    shapes = [_line(boxes, i, made_by.get(op.in1, -1)) for i, op in enumerate(model.ops)]
    shapes += [
        _line(boxes, i, made_by.get(op.in2, -1)) for i, op in enumerate(model.ops) if op.in2 >= 0
    ]
    for op, part, box in zip(model.ops, parts, boxes):
        shapes.append(_drawn(op, part, box))
    width = 24 + CELL * min(ROW, len(boxes) + 1)
    height = (ABOVE + HIGH + LABELS) * (1 + len(boxes) // ROW) + 8
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"width='{width}' height='{height}' {FONT} font-size='10.5'>",
        "<rect width='100%' height='100%' fill='white'/>",
        _input(model),
        *filter(None, shapes),
        "</svg>\n",
    ])  # fmt: skip


def _place(number):
    """(x of the middle, y of the middle) of cell `number`; cell 0 is the input."""
    row, column = divmod(number, ROW)
    return 12 + CELL * (column + 0.5), ABOVE + HIGH / 2 + row * (ABOVE + HIGH + LABELS)


def _box(number, shape, model):
    """(x, y, width, height) of an operator's box."""
    rows, columns, channels = shape
    side = max(rows, columns) / max(model.in_h, model.in_w, rows, columns)
    height = 12 + (HIGH - 12) * math.sqrt(side if max(rows, columns) > 1 else 0)
    width = min(CELL - 24, 7 + 4.6 * math.log2(channels + 1))
    x, y = _place(number + 1)
    return x - width / 2, y - height / 2, width, height


def _input(model):
    x, y = _place(0)
    side = 34
    texts = _texts(x, y + HIGH / 2 + 14, ("input", _shape((model.in_h, model.in_w, model.in_c))))
    return (
        f"<rect x='{x - side / 2}' y='{y - HIGH / 2}' width='{side}' height='{HIGH}' rx='2' "
        f"fill='#f2f2f2' stroke='#777'/>{texts}"
    )


def _drawn(op, part, box):
    x, y, width, height = (round(v, 1) for v in box)
    kind = part["kind"].upper()
    middle, below = _place_of(box)
    kernel = f"{op.k_h} x {op.k_w}" if kind in ("CONV", "DWCONV") else ""
    words = [part["name"], f"{WORDS.get(kind, kind.lower())}", kernel, _shape(part["output"])]
    if part["weights"]:
        words.append(f"{part['weights']:,} weights")
    border = "#222" if part["trainable"] else "none"
    return (
        f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='2' "
        f"fill='{COLOURS.get(kind, OTHER)}' stroke='{border}'/>"
        + _texts(middle, below, filter(None, words))
    )


def _place_of(box):
    """(middle, first line below) of a box's cell."""
    x, y, width, height = box
    return x + width / 2, y + height / 2 + HIGH / 2 + 14


def _texts(x, y, lines):
    texts = []
    for i, line in enumerate(lines):
        style = "font-weight='600' fill='#222'" if i == 0 else "fill='#666'"
        text = visible(str(line))
        most = 12 if i == 0 else 16
        text = text if len(text) <= most else text[: most - 1] + "\u2026"
        texts.append(
            f"<text x='{x:.1f}' y='{y + 12.5 * i:.1f}' text-anchor='middle' {style}>"
            f"{saxutils.escape(text)}</text>"
        )
    return "".join(texts)


def _line(boxes, number, source):
    """From the box of an operator's input to its own: straight to the next, else an arc."""
    to_x, to_y = boxes[number][0], _place(number + 1)[1]
    if source < 0:
        from_x, from_y = _place(0)[0] + 17, _place(0)[1]
    else:
        from_x, from_y = boxes[source][0] + boxes[source][2], _place(source + 1)[1]
    path = f"M{from_x:.1f} {from_y:.1f}"
    if source == number - 1 and from_y == to_y:
        path += f"L{to_x:.1f} {to_y:.1f}"
    elif from_y == to_y:
        top = from_y - HIGH / 2 - 18
        path = (
            f"M{from_x - 3:.1f} {from_y - boxes[source][3] / 2 if source >= 0 else from_y:.1f}"
            f"C{from_x:.1f} {top:.1f} {to_x:.1f} {top:.1f} {to_x + 3:.1f} "
            f"{to_y - boxes[number][3] / 2:.1f}"
        )
    else:
        path += _around(boxes, source, from_y, to_x, to_y)
    return f"<path d='{path}' fill='none' stroke='#999'/>"


def _around(boxes, source, from_y, to_x, to_y):
    """To another row: over the boxes, down at the right margin, back between the rows."""
    shift = 3 * (source % 3)
    right, gap = 12 + CELL * ROW + 2 + shift, from_y + HIGH / 2 + LABELS + 6 + shift
    over = ""
    if (source + 1) % ROW < ROW - 1:
        x, y, width, _ = boxes[source]
        over = f"M{x + width / 2:.1f} {y:.1f}V{from_y - HIGH / 2 - 12 - shift:.1f}"
    return f"{over}H{right}V{gap:.1f}H{3 + shift}V{to_y:.1f}H{to_x:.1f}"


def _shape(shape):
    rows, columns, channels = shape
    return f"{rows} x {columns} x {channels}"

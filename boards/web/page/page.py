"""What the page of `make web` shows beside text; boards do not have it."""

import binascii
import json

import js


def point(plot, line, x, y):
    """Adds a point to a line of a plot of this cell; both are made when they are first named."""
    _show({"kind": "point", "plot": plot, "line": line, "x": x, "y": y})


def image(pixels, width, text=""):
    """Shows grey pixels, bytes row by row, with a text below."""
    data = binascii.b2a_base64(bytes(pixels)).decode().strip()
    _show({"kind": "image", "pixels": data, "width": width, "text": text})


def _show(what):
    js.microzoShow(json.dumps(what))

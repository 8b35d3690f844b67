"""Text of a board or a file as a terminal may have it: what would steer the terminal is shown."""

import codecs
import unicodedata

# Of Unicode's categories: controls, formats (they turn the order of letters), surrogates,
# private and unassigned characters, ends of lines and paragraphs that are no "\n".
_STEERING = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text, pass_on="\n\t"):
    """The text, every character in it that a terminal may obey written as a backslash escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in pass_on else _shown(c) for c in text)


def _shown(character):
    if unicodedata.category(character) not in _STEERING:
        return character
    return character.encode("unicode_escape").decode()


class Stream:
    """Bytes that come in parts, as visible text; a script may go back to the begin of its line."""

    def __init__(self):
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data):
        return visible(self._decoder.decode(data), "\r\n\t")

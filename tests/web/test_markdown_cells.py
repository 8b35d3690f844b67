"""Pages as HTML, and the cells among their text."""

import sys

import pytest

from microzo_host import place

sys.path.append(str(place.CLONE / "boards" / "tools"))

import markdown_cells as markdown  # noqa: E402

PAGE = """# A `b` & c

Text *one* and **two** of `a < b`,
[the web](https://example.org/x) and [a file](../x.md#y).

- item one
  goes on
- item 2 * 3

| a | b |
|---|---|
| `x|y` | 2 |

```python
print("a < b")
```

```sh
make <all>
```
"""


def test_parts():
    before, cell, after = markdown.parts(PAGE)
    assert cell == {"code": 'print("a < b")'}
    html = before["html"]
    assert "<h1>A <code>b</code> &amp; c</h1>" in html
    assert "<em>one</em> and <strong>two</strong> of <code>a &lt; b</code>" in html
    assert '<a href="https://example.org/x">the web</a> and <a href="../x.md#y">a file</a>' in html
    assert "<ul><li>item one goes on</li><li>item 2 * 3</li></ul>" in html
    assert "<tr><th>a</th><th>b</th></tr>" in html
    assert after == {"html": "<pre>make &lt;all&gt;</pre>"}
    assert markdown.title(PAGE) == "A b & c"


@pytest.mark.parametrize(
    "text", ["<script>x</script>", "`<b>`", "[<b>](https://e.org)", "[x](<b>)"]
)
def test_no_html_of_the_text_gets_through(text):
    assert "<script" not in markdown.inline(text) and "<b>" not in markdown.inline(text)


def test_links_are_addresses():
    assert markdown.inline("[x](javascript:alert(1))") == "x)"

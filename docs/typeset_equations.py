"""A hook of mkdocs: equations between dollar signs become MathML while the site is built.

Browsers render MathML themselves, so a page needs no JavaScript and no network; the site brings a font for it
(make_math_font.py). `$...$` is an equation within a line, `$$...$$` one on a line of its own. pymdownx.arithmatex finds them and
latex2mathml translates them.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
TIGHT = re.compile(r"<mo( stretchy=\"false\")?>(&#x0002F;|&#x0007C;|&#x02202;)</mo>")  # / | and the curly d of slopes stand close
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """The page's HTML with its equations as MathML."""
    content = DISPLAY.sub(lambda found: f'<div class="equation">{_mathml(found[1], "block")}</div>', content)
    return INLINE.sub(lambda found: _mathml(found[1], "inline"), content)


def _mathml(latex: str, display: str) -> str:
    mathml = str(convert(html.unescape(latex).strip(), display=display))
    mathml = mathml.replace("&#x0003D;</mo><mo>&#x02212;", '&#x0003D;</mo><mo form="prefix">&#x02212;')  # a sign after =
    return TIGHT.sub(r'<mo lspace="0" rspace="0"\1>\2</mo>', mathml)

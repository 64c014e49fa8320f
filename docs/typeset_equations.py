"""A hook of mkdocs: equations between dollar signs become MathML while the site is built.

Browsers render MathML themselves, so a page needs no JavaScript, no fonts and no network. `$...$` is an equation within a line,
`$$...$$` one on a line of its own. pymdownx.arithmatex finds them and latex2mathml translates them.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """The page's HTML with its equations as MathML."""
    content = DISPLAY.sub(lambda found: f'<div class="equation">{_mathml(found[1], "block")}</div>', content)
    return INLINE.sub(lambda found: _mathml(found[1], "inline"), content)


def _mathml(latex: str, display: str) -> str:
    return str(convert(html.unescape(latex).strip(), display=display))

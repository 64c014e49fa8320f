"""Makes docs/fonts/math.woff: the characters of equations, from a font that knows how mathematics is set.

    python docs/make_math_font.py /usr/share/fonts/truetype/dejavu/DejaVuMathTeXGyre.ttf

A browser sets MathML well only with a font that has an OpenType table MATH: without one, subscripts stay on the line. Few systems
have such a font, so the site brings its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fontTools import subset

TARGET = Path(__file__).parent / "fonts" / "math.woff"
ITALIC = {*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)}  # what a browser makes of single letters, Latin and Greek
LETTERS = {*range(0x20, 0x7F), *range(0x391, 0x3CA), 0x3D1, 0x3D5, 0x3F5}
SIGNS = {ord(sign) for sign in "¨·×˙…′″‴←→∂∑−∫⊕√±≤≥≪≫≈∞⟨⟩‖∇∏∈ℓ∝¯ˆ˜"}
SPACES_AND_ACCENTS = {0xA0, 0x2061, 0x2062, 0x303, 0x305, 0x307, 0x308, 0x20D7}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("font", type=Path, help="a font with a table MATH")
    source = parser.parse_args().font
    options = subset.Options(flavor="woff", layout_features=["*"], hinting=False, drop_tables=["FFTM"])
    font = subset.load_font(str(source), options)
    assert "MATH" in font, f"{source} has no table MATH"
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=ITALIC | LETTERS | SIGNS | SPACES_AND_ACCENTS)
    subsetter.subset(font)
    TARGET.parent.mkdir(exist_ok=True)
    subset.save_font(font, str(TARGET), options)
    print(f"{TARGET} {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()

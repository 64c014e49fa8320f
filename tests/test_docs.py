"""The guide's code runs: its python blocks are one script, its model files stand beside it."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.yaml)\n")  # the first line of a block that is a file


def test_the_code_of_the_guide_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    script, lines = "", 0
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        if language == "yaml" and (name := FILE_NAME.match(code)):
            Path(name[1]).write_text(code, encoding="utf-8")
        if language == "python":  # blank lines before it, so that an error shows the guide's own line
            above = text.count("\n", 0, block.start(2))
            script += "\n" * (above - lines) + code
            lines = above + code.count("\n")
    assert script
    exec(compile(script, str(GUIDE), "exec"), {"__name__": "guide"})

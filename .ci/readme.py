"""Take the README at its word: its two shell commands and its example, as files to run."""

import re
import sys
from pathlib import Path

readme, target = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
commands = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
examples = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
if len(commands) != 2 or len(examples) != 1:
    sys.exit(f"README must hold two shell commands and one Python example, got {len(commands)} and {len(examples)}")
(target / "main.sh").write_text(commands[0])
(target / "tests.sh").write_text(commands[1])
(target / "example.py").write_text(examples[0])

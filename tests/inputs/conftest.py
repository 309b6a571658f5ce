"""Has the tests of this folder import what they test: src/inputs/python, and of the worker what that imports."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("src/inputs/python", "src/backends/inductor"):
    sys.path.append(str(ROOT / folder))

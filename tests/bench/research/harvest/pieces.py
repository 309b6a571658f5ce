"""The expressions that probes are made of: a file a family in pieces/, one a line, by what they need of {x}.

{y} has the shape of {x}, {d} is one of its dimensions. Whatever eager itself refuses, or answers in two ways, is left
out when a probe is made, so a piece may fit a few dtypes and shapes only. What C++ leaves undefined is found all the
same where neither side is right (a float that an integer type cannot hold): docs/found.md leaves it out.
"""

from pathlib import Path

FAMILIES = {
    file.stem: tuple(file.read_text().splitlines()) for file in sorted(Path(__file__).with_name("pieces").glob("*.txt"))
}

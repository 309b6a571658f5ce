#!/usr/bin/env python3
"""Says which tests were skipped, under the reason: by the XML files that GoogleTest and ctest have written.

skipped_tests.py FILE...

One that was run in another file was not skipped. Those that only scripts/test.sh --all runs are counted.
"""

import re
import sys
import textwrap
import xml.etree.ElementTree
from collections.abc import Iterator

ONLY_ALL = "scripts/test.sh --all runs it"


def reason_in(text: str) -> str:
    """Returns the line after that in which GoogleTest says where a test was skipped; empty where there is none."""
    found = re.search(r"Skipped\n(.+)", text)
    return found[1].strip() if found else ""


def tests_of(path: str) -> Iterator[tuple[str, str | None]]:
    """Yields the name of each, and why it was skipped; None: it was run."""
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        suite, short = test.get("classname", ""), test.get("name", "")
        name = short if suite in ("", short) else f"{suite}.{short}"
        mark = test.find("skipped")
        if mark is None:
            yield name, None
            continue
        said = reason_in(test.findtext("system-out", "")) or mark.get("message", "") or (mark.text or "")
        lines = said.strip().splitlines()
        yield name, lines[-1] if lines else ""


def main() -> None:
    tests = {each for path in sys.argv[1:] for each in tests_of(path)}
    run = {name for name, reason in tests if reason is None}
    found = sorted((name, reason) for name, reason in tests if reason is not None and name not in run)
    for reason in sorted({reason for _, reason in found} - {ONLY_ALL}):
        names = [name for name, said in found if said == reason]
        print(textwrap.shorten(f"{len(names)}: {reason}", 120, placeholder=" ..."))
        print(textwrap.fill(" ".join(names), 120, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
    print(f"{sum(reason == ONLY_ALL for _, reason in found)} more are run by scripts/test.sh --all")


if __name__ == "__main__":
    main()

"""Prints which packages a recipe needs that this Python lacks, in one line; nothing where it has all. Imports none.

needs.py RECIPE.py
"""

import ast
import sys
from importlib import metadata
from pathlib import Path


def needs_of(path):
    """The packages that its NEEDS names, as pip knows them; the file is not run."""
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, ValueError, OSError):
        return []  # said where it is run
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["NEEDS"]:
            return list(ast.literal_eval(node.value))
    return []


def missing(path):
    return [name for name in needs_of(path) if not is_there(name)]


def is_there(name):
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    print(" ".join(missing(Path(sys.argv[1]))))

#!/usr/bin/env python3
"""Lists what the translation for `inductor` has no Python for, in real models' graphs: calls inlined, every block.

    untranslated.py FOLDER        of make.py
"""

import argparse
import collections
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "src" / "backends" / "inductor"))
from calls import Untranslatable, graph_of
from translate import Translator


class Lister(Translator):
    """Goes on after what it cannot say."""

    def __init__(self, graph):
        super().__init__(graph)
        self.missing = collections.Counter()
        self.kinds = collections.Counter()

    def node(self, node):
        self.kinds[node.kind()] += 1
        if node.kind() == "prim::GetAttr":  # the tool makes them parameters and constants before
            self.texts[node.output().debugName()] = "attribute"
            return
        try:
            super().node(node)
        except Untranslatable as error:
            self.missing[f"{node.kind()}: {error}"] += 1
            for output in node.outputs():
                self.texts[output.debugName()] = "missing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    models = sorted(path.parent for path in parser.parse_args().folder.glob("*/model.pt"))
    kinds, missing = collections.Counter(), collections.defaultdict(list)
    for folder in models:
        lister = Lister(graph_of(torch.jit.load(folder / "model.pt")))
        lister.source()
        kinds += lister.kinds
        for what in lister.missing:
            missing[what].append(folder.name)
    print(f"{len(models)} models, {kinds.total()} nodes of {len(kinds)} kinds; without Python: {len(missing)}")
    for what, names in sorted(missing.items()):
        print(f"  {what}  ({len(names)}: {', '.join(names[:4])})")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

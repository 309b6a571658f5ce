"""Runs several of the files beside it in one Python, as importing torch takes longer than most of their tests.

inductor_together.py FOLDER NAME...        FOLDER is src/backends/inductor, NAME that of inductor_NAME.py
"""

import importlib
import os
import sys
import unittest
import warnings

folder, *names = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def tests_of(name: str) -> unittest.TestSuite:
    sys.argv[1:] = [folder]  # each file takes it from there
    return unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"inductor_{name}"))


if __name__ == "__main__":
    suite = unittest.TestSuite(map(tests_of, names))
    warnings.simplefilter("ignore")
    sys.exit(not unittest.TextTestRunner(warnings="ignore").run(suite).wasSuccessful())

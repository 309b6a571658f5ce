"""Runs several of the files beside it, each in a fork of one Python: importing torch and TorchInductor takes longer
than most of their tests.

inductor_together.py FOLDER NAME...        FOLDER is src/backends/inductor, NAME that of inductor_NAME.py
"""

import importlib
import os
import sys
import unittest
import warnings

import torch._dynamo
import torch._inductor.compile_fx  # noqa: F401  (each fork has it then)

folder, *names = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def passes(name: str) -> bool:
    sys.argv[1:] = [folder]  # each file takes it from there
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"inductor_{name}"))
    warnings.simplefilter("ignore")
    return unittest.TextTestRunner(warnings="ignore").run(suite).wasSuccessful()


def pass_in_a_fork(name: str) -> bool:
    sys.stderr.write(f"\ninductor_{name}.py\n")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if passes(name) else 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


if __name__ == "__main__":
    sys.exit(not all([pass_in_a_fork(name) for name in names]))

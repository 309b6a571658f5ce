#!/usr/bin/env python3
"""Tests of what tests/bench/real/table.py does with answers: it asks each question once, also where it was killed; it
counts refusals, and says which answers agree with PyTorch."""

import json
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "real"))
import page
import table
from measured import run


def row(model, step, verdict, **more):
    base = {"model": model, "backend": "jit", "step": step, "verdict": verdict, "why": "", "seconds": 1.0}
    return {**base, "peak_mb": 100.0, "archive_mb": 50.0, **more}


class Page(unittest.TestCase):
    def test_a_refusal_counts_unless_python_does_not_run_it_either(self):
        rows = [
            row("a", "run", "refused"),
            row("b", "run", "refused"),
            row("c", "run", "no answer"),
            row("d", "run", "pass"),
        ]
        rows += [row("a", "pytorch", "same"), row("b", "pytorch", "raises")]
        self.assertEqual([refused["model"] for refused in page.refusals(rows)], ["a", "c"])

    def test_says_who_agrees_with_pytorch(self):
        for said, own, word in (
            ("pass", "same", "agrees"),
            ("fail", "wrong", "agrees"),
            ("fail", "crashes", "agrees"),
            ("pass", "wrong", "DISAGREES"),
            ("fail", "same", "DISAGREES"),
            ("fail", "none", ""),
        ):
            self.assertEqual(page.agrees(row("a", "run", said), row("a", "pytorch", own)), word)

    def test_names_what_a_failure_comes_down_to(self):
        rows = [row("a|b", "run", "fail", kind="accuracy"), row("a|b", "pytorch", "wrong")]
        rows += [row("a|b", "reduce", "", operators=2, before=90, verified=True)]
        text = page.markdown(rows, ["jit"])
        self.assertIn("| a\\|b | jit | **fail** | accuracy | wrong | 90 to 2 operators, verified, 1 s |", text)
        self.assertIn("100 MB (2.0 x)", text)


class Answers(unittest.TestCase):
    def test_asks_once_also_after_a_kill(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "m").mkdir()
            (folder / "m" / "model.pt").write_bytes(b"x")
            asked = []
            table.STEPS["counted"] = lambda *given: asked.append(given) or {"verdict": "pass"}
            for _ in range(2):
                table.Answers(folder / "answers.jsonl").ask(types.SimpleNamespace(), folder / "m", "jit", "counted")
            self.assertEqual(len(asked), 1)
            whole = (folder / "answers.jsonl").read_text()
            (folder / "answers.jsonl").write_text(whole + whole[: len(whole) // 2])
            self.assertEqual(list(table.Answers(folder / "answers.jsonl").known), [("m", "jit", "counted")])
            self.assertEqual(json.loads(whole)["verdict"], "pass")


class Measured(unittest.TestCase):
    def test_counts_the_memory_of_all_processes_and_ends_them(self):
        inner = "import time; x = bytearray(30 << 20); time.sleep(1)"
        outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
        done = run([sys.executable, "-c", outer], 30)
        self.assertEqual((done.code, done.timed_out), (0, False))
        self.assertGreater(done.peak_mb, 30)
        self.assertTrue(run([sys.executable, "-c", outer.replace("sleep(1)", "sleep(60)")], 0.5).timed_out)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests of the tables' statements on the bar on queries, row by row and in all."""

import contextlib
import io
import unittest

import tables


def ours(name, queries):
    """Returns a row of a model, where the other sets that could be needed were never counted."""
    return {"name": name, "queries": queries, "nodes": 100, "needed": 5, "unit": "nodes", "shape": "scattered"}


def planted(name, queries):
    return ours(name, queries) | {"unit": "operators"}


def theirs(name, queries, times=20, stopped=""):
    return {"name": name, "queries": queries, "times": times, "stopped": stopped}


def said_of(pairs):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        tables.share_bars([row for row, _ in pairs], {other["name"]: other for _, other in pairs})
    return [line.strip() for line in text.getvalue().splitlines()]


class Standing(unittest.TestCase):
    def test_of_a_row(self):
        for queries, other, expected in (
            (20, theirs("a", 400), "holds"),
            (20, theirs("a", 400, stopped="enough"), "holds"),
            (20, theirs("a", 399), "MISSED"),
            (20, theirs("a", 399, stopped="150 s"), "undecided"),
            (20, theirs("a", 40, times=2), "holds"),
            (20, theirs("a", 39, times=2), "MISSED"),
        ):
            with self.subTest(other=other):
                self.assertEqual(tables.standing(ours("a", queries), other), expected)

    def test_what_was_cut_short_is_not_counted_as_missed(self):
        held = (ours("held", 20), theirs("held", 400))
        short = (ours("short", 20), theirs("short", 399, stopped="150 s"))
        missed = (ours("missed", 50), theirs("missed", 999))
        self.assertIn("holds: scattered nodes: at most a twentieth: 1 of 1", said_of([held]))
        lines = said_of([held, short])
        self.assertIn("undecided: scattered nodes: at most a twentieth: 1 of 2, 1 undecided", lines)
        why = "fx_minifier was stopped after 150 s, at 399 of the 400 queries that decide"
        self.assertIn(f"undecided: short: {why}", lines)
        lines = said_of([held, short, missed])
        self.assertIn("MISSED: scattered nodes: at most a twentieth: 1 of 3, 1 MISSED, 1 undecided", lines)
        self.assertIn("MISSED: missed: 50, allowed 49", lines)

    def test_what_no_search_can_meet_is_asked_of_none(self):
        # log2 C(100, 5) = 26.2, and five single deletions: 31.2, more than 600 / 20. 1.5 times that is 46.8.
        lines = said_of([(planted("hard", 46), theirs("hard", 600))])
        self.assertIn("holds: scattered nodes: at most a twentieth: 1 of 1", lines)
        self.assertIn("holds: hard: 46, allowed 46; 1.5 x 31.2, as no search can do with 30", lines)
        lines = said_of([(planted("hard", 47), theirs("hard", 600))])
        self.assertIn("MISSED: hard: 47, allowed 46; 1.5 x 31.2, as no search can do with 30", lines)

    def test_what_a_search_can_meet_keeps_its_bar(self):
        # 640 / 20 = 32 is more than 31.2.
        lines = said_of([(planted("hard", 33), theirs("hard", 640))])
        self.assertIn("MISSED: hard: 33, allowed 32", lines)
        self.assertEqual(tables.standing(planted("hard", 32), theirs("hard", 640)), "holds")

    def test_what_was_cut_short_stays_undecided_below_the_bound(self):
        self.assertEqual(tables.standing(planted("hard", 40), theirs("hard", 600, stopped="150 s")), "undecided")

    def test_other_bars_know_no_bound(self):
        self.assertEqual(tables.allowed(ours("model", 40), theirs("model", 600)), (30, False))
        self.assertEqual(tables.allowed(planted("half", 40), theirs("half", 60, times=2)), (30, False))


class Cases(unittest.TestCase):
    def test_a_count_that_could_not_be_had_is_not_small(self):
        for count, expected in ((-1, False), (0, True), (2, True), (3, False)):
            row = {"operators_after_freezing": count, "operators_at_most": 2}
            with self.subTest(count=count):
                self.assertEqual(tables.is_small_enough(row), expected)

    def test_two_jobs_are_judged_by_all_cases(self):
        def said(*speedups):
            rows = [{"name": "a", "ms_a_check": 60} | ({"speedup_of_two_jobs": s} if s else {}) for s in speedups]
            for row in rows:
                if "speedup_of_two_jobs" not in row:
                    row["exit_code_with_two_jobs"] = 2
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                tables.two_jobs_bar(rows)
            return text.getvalue()

        self.assertIn("holds: two jobs 1.6 x as fast as one: 2 of 2", said(1.6, 1.9))
        self.assertIn("MISSED: two jobs 1.6 x as fast as one: 1 of 4", said(1.9, 1.5, 1.2, 1.1))
        self.assertIn("MISSED: two jobs 1.6 x as fast as one: 1 of 2", said(1.9, None))
        self.assertEqual(said(), "")


if __name__ == "__main__":
    unittest.main()

"""Which lines scripts/check_clocks.py takes for a comparison of a clock."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_clocks.py"


def lines_found(folder: Path, name: str, text: str) -> list[int]:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    process = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True)
    found = [int(line.split(":")[1]) for line in process.stdout.splitlines()[:-1]]
    assert process.returncode == (1 if found else 0), process.stderr
    return found


COMPARED_IN_PYTHON = [
    "import time\nbegin = time.monotonic()\nassert time.monotonic() - begin < 5",
    "import time\nbegin = time.time()\ntook = time.time() - begin\nassert took <= limit",
    "from time import perf_counter\nend = perf_counter() + 5\nwhile perf_counter() < end: pass",
    "import time\ndef took():\n    return time.monotonic() - begin\nassert 3 > took()",
    "import time\nclass A:\n    def end(self):\n        self.over = time.monotonic_ns()\nassert a.over > 7",
    "import time\ncode, took = 0, time.monotonic() - begin\nassert took < 1",
    "from datetime import datetime\nself.assertLess(datetime.now(), end)",
    "assert run.seconds_until_clear < SECONDS_TO_END",
    "assert report['seconds'] < 20",
    "assert result.duration < 3",
    "import timeit\nassert timeit.timeit(work, number=1) < 2",
    "from timeit import default_timer\nassert default_timer() - begin < 2",
    "import time\ntook = time.time() - begin\nassert int(took) == 0",
    "import time\ntook = time.time() - begin\nassert max(took, 2) == 2",
    "assert run.took < 3",
    "assert report['elapsed_seconds'] * 2 < other and report['seconds'] <= 2 * LIMIT",
]

NOT_COMPARED_IN_PYTHON = [
    "import time\nbegin = time.monotonic()\nprint(time.monotonic() - begin)",
    "import time\nfor _ in range(100):\n    time.sleep(0.1)\nassert count < 5",
    "import time\ncode, took = 0, time.monotonic() - begin\nassert code < 1",
    "assert report['seconds'] > 0 and run.seconds == 1.5 and len(seconds) < 3",
]


@pytest.mark.parametrize("text", COMPARED_IN_PYTHON)
def test_a_comparison_in_python_is_found(text: str, tmp_path: Path) -> None:
    last = [number for number, line in enumerate(text.splitlines(), 1) if re.search("<|>|==|Less", line)]
    assert lines_found(tmp_path, "test_it.py", text) == last[-1:]


@pytest.mark.parametrize("text", NOT_COMPARED_IN_PYTHON)
def test_what_compares_no_clock_in_python_is_left_alone(text: str, tmp_path: Path) -> None:
    assert lines_found(tmp_path, "test_it.py", text) == []


COMPARED_IN_CPP = [
    "const auto begin = Clock::now();\nEXPECT_LT(Clock::now() - begin, 5s);",
    "auto begin = std::chrono::steady_clock::now();\nif (std::chrono::steady_clock::now() - begin > limit) {}",
    "const std::chrono::duration<double> took(Clock::now() - begin);\nEXPECT_TRUE(took.count() <= limit);",
    "timespec spent{};\nclock_gettime(CLOCK_MONOTONIC, &spent);\nASSERT_GE(spent.tv_sec,\n  2);",
    "double took() { return since(Clock::now()); }\nEXPECT_LT(took(), many);",
    "const auto end = steady_clock::now() + limit;\nwhile (!is_over() && steady_clock::now() < end) {}",
    "wait([begin] { return Clock::now() - begin > most; });",
    "EXPECT_LE(job_end.wall, 300ms);",
    "EXPECT_LT(took, std::chrono::seconds(3));",
    "EXPECT_LT(verdict.eager_seconds, 60);",
    'EXPECT_TRUE(is_there && report["seconds"].get<double>() < 3.0);',
    "const std::clock_t begin = std::clock();\nEXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 1.0);",
    "constexpr double most = 3;\nEXPECT_LT(report.seconds, most);",
    "EXPECT_LT(took.count(), 5);",
    "EXPECT_TRUE(end.wait_for(5s) == std::future_status::ready);",
]

NOT_COMPARED_IN_CPP = [
    "// EXPECT_LT(Clock::now() - begin, 5s);",
    'const char *text = "EXPECT_LT(Clock::now() - begin, 5s)";',
    "fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));\nEXPECT_GE(made, 1);",
    "const JobEnd job_end = run([] { const auto begin = Clock::now(); });\nEXPECT_LT(job_end.frames.size(), 3U);",
    "EXPECT_EQ(timeout.limit(), 60s);\nfor (int looks = 0; looks < 100; ++looks)\n  sleep_for(10ms);",
    'EXPECT_GT(report["seconds"].get<double>(), 0);\nEXPECT_EQ(report["seconds"], 3);',
    "EXPECT_EQ(looks, 3);\nend.wait_for(5s);",
    "EXPECT_GT(job_end.wall.count(), 0);\nEXPECT_GT(job_end.wall, job_end.before_stage);",
]


@pytest.mark.parametrize("text", COMPARED_IN_CPP)
def test_a_comparison_in_cpp_is_found(text: str, tmp_path: Path) -> None:
    marks = ("EXPECT", "ASSERT", "if (", "while", "wait")
    last = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith(marks)]
    assert lines_found(tmp_path, "it_test.cpp", text) == last


@pytest.mark.parametrize("text", NOT_COMPARED_IN_CPP)
def test_what_compares_no_clock_in_cpp_is_left_alone(text: str, tmp_path: Path) -> None:
    assert lines_found(tmp_path, "it_test.cpp", text) == []


def test_benches_may_measure(tmp_path: Path) -> None:
    assert lines_found(tmp_path, "bench/it_test.cpp", "EXPECT_LT(Clock::now() - begin, 5s);") == []

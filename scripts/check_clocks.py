#!/usr/bin/env python3
"""check_clocks.py [FOLDER]: no test compares a clock, since a machine may be as busy as it likes. FOLDER is by default
tests/ of the repository; the benches in it measure time, and fail on none.

Prints each comparison by size (<, <=, >, >=, EXPECT_LT, assertLess and their like) of

- what a clock was asked for, or of what was computed from that in the same file;
- what by its name is a time that was measured (`seconds`, `elapsed_seconds`, `took`, `wall`) with a number or a
  constant that is not 0; in C++, of anything with a duration, such as 5s.

and, in Python, that a clock's time equals something, in C++ what became of `wait_for` and `wait_until`.

Exits with 1 if there is any. Instead, a test counts (questions, polls, forks, steps) or waits for an event; how long it
waits at most, so that a broken program does not keep it for ever, is a number of looks.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SKIPPED = {"bench", "__pycache__"}
# Every exemption, with its reason.
EXEMPT = {
    "tasks/work_now_and_then.h": "it spends a given time on a processor; no load makes a lower bound on a limit fail",
    "tasks/processor_use_test.cpp": "it waits until the kernel has counted enough; no load makes that fail",
    "security/fuzz.py": "it tries archives for as long as it is told to, and finds fault with no time",
}
MEASURED = re.compile(r"(\w+_)?(seconds|elapsed|duration|milliseconds|microseconds|took|wall)(_\w+)?|before_stage")


class PythonFile:
    """Names of a file that hold, or return, what a clock said."""

    MODULES = {"time", "datetime", "date", "timeit"}
    CLOCKS = {"timeit", "repeat", "default_timer", "time", "monotonic", "perf_counter", "process_time", "thread_time"}
    CLOCKS |= {"now", "utcnow", "today"}
    CLOCKS |= {f"{name}_ns" for name in CLOCKS}
    ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    ASSERTIONS = {"assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual"}

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.imported = {
            name.asname or name.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module in ("time", "timeit")
            for name in node.names
        }
        self.known: set[str] = set()
        while True:
            before = len(self.known)
            for node in ast.walk(self.tree):
                self.learn(node)
            if len(self.known) == before:
                break

    @staticmethod
    def name_of(node: ast.AST) -> str:
        """The last name of a name, an attribute or an entry; "" of anything else."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return str(node.slice.value)
        return PythonFile.name_of(node.func) if isinstance(node, ast.Call) else ""

    def asks_clock(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            return call.func.id in self.imported & self.CLOCKS
        if not isinstance(call.func, ast.Attribute):
            return False
        return call.func.attr in self.CLOCKS and self.name_of(call.func.value) in self.MODULES

    def is_time(self, node: ast.AST) -> bool:
        asked = (self.asks_clock(each) for each in ast.walk(node) if isinstance(each, ast.Call))
        return any(asked) or any(self.name_of(each) in self.known for each in ast.walk(node))

    def learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.learn_target(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
            self.learn_target(node.target, node.value)
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            results = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            if isinstance(node, ast.FunctionDef) and any(self.is_time(result) for result in results):
                self.known.add(node.name)

    def learn_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            values = value.elts if same and isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
            for each, of_it in zip(target.elts, values):
                self.learn_target(each, of_it)
        elif self.is_time(value) and (name := self.name_of(target)):
            self.known.add(name)

    @staticmethod
    def is_bound(node: ast.expr) -> bool:
        """A number that is not 0, or a constant, and what is computed from them."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float)) and node.value != 0
        return any(PythonFile.name_of(each).isupper() or
                   (isinstance(each, ast.Constant) and each.value not in (0, None) and not isinstance(each.value, str))
                   for each in ast.walk(node))  # fmt: skip

    def compares_time(self, operands: list[ast.expr]) -> bool:
        if any(self.is_time(operand) for operand in operands):
            return True
        measured = [operand for operand in operands if MEASURED.fullmatch(self.name_of(operand))]
        return bool(measured) and any(self.is_bound(operand) for operand in operands if operand not in measured)

    def comparisons(self) -> Iterator[int]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Compare):
                operands = [node.left, *node.comparators]
                by_size = any(isinstance(op, self.ORDERS) for op in node.ops)
                is_equal = any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)
                if (by_size and self.compares_time(operands)) or (is_equal and any(map(self.is_time, operands))):
                    yield node.lineno
            elif isinstance(node, ast.Call) and self.name_of(node) in self.ASSERTIONS:
                if self.compares_time(node.args):
                    yield node.lineno


class CppFile:
    """The same of a file in C++, whose text is searched: a name that holds a time in one function does in all."""

    COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![\w\'])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    CLOCK = r"\w*[Cc]lock(?:_type)?::now\s*\(|\bgettimeofday\s*\(|\bclock\(\)|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)"
    WRITTEN = re.compile(r"\b(?:clock_gettime|getrusage)\s*\([^,;]*,\s*&\s*(\w+)")
    HOLDS = re.compile(r"\b(\w+)\s*[-+]?=(?!=)\s*([^;{}]*);")
    DECLARED = re.compile(r"\bduration<[^;{}()]*>\s+(\w+)\s*[({]([^;{}]*)[)}];")
    FUNCTION = re.compile(r"\b(\w+)\s*\([^;{}()]*\)\s*(?:const\s*)?\{")
    ORDER = re.compile(r"\b(?:EXPECT|ASSERT)_(?:LT|LE|GT|GE)\s*\(")
    CONDITION = re.compile(r"\b(?:if|while|for|return|EXPECT_TRUE|EXPECT_FALSE|ASSERT_TRUE|ASSERT_FALSE)\b")
    BY_SIZE = re.compile(r"\s(?:<=|>=|<|>)\s")  # as clang-format writes it: those of a template have no blanks
    DURATION = re.compile(r"\b\d[\d']*(?:\.\d+)?(?:h|min|s|ms|us|ns)\b|\b(?:seconds|milliseconds|minutes|hours)\s*[({]")
    WAITED = re.compile(r"[!=]=.*\bwait_(?:for|until)\s*\(|\bwait_(?:for|until)\s*\(.*[!=]=", re.DOTALL)
    CONSTANT = re.compile(r"\bconstexpr\b[^;=]*?\b(\w+)\s*[={]")

    def __init__(self, text: str) -> None:
        self.text = self.COMMENT_OR_TEXT.sub(self.blank, text)
        self.constants = set(self.CONSTANT.findall(self.text))
        self.known = set(self.WRITTEN.findall(self.text))
        while True:
            before = len(self.known)
            held = self.HOLDS.findall(self.text) + self.DECLARED.findall(self.text)
            self.known |= {name for name, value in held if self.is_time(value)}
            self.known |= {name for name, body in self.functions() if self.returns_time(body)}
            if len(self.known) == before:
                break

    @staticmethod
    def blank(match: re.Match[str]) -> str:
        """Nothing of a comment or a text, but for one that names a time: report["seconds"]."""
        content = match.group()[1:-1]
        return f" {content} " if MEASURED.fullmatch(content) else re.sub(r"[^\n]", " ", match.group())

    def functions(self) -> Iterator[tuple[str, str]]:
        for match in self.FUNCTION.finditer(self.text):
            yield match.group(1), self.balanced(match.end() - 1, "{}")

    def returns_time(self, body: str) -> bool:
        return any(self.is_time(result) for result in re.findall(r"\breturn\b([^;{}]*);", body))

    def balanced(self, at: int, pair: str) -> str:
        """From the bracket at this place to the one that closes it."""
        depth = 0
        for end in range(at, len(self.text)):
            depth += (self.text[end] == pair[0]) - (self.text[end] == pair[1])
            if depth == 0:
                return self.text[at + 1 : end]
        return self.text[at + 1 :]

    def is_time(self, expression: str) -> bool:
        return bool(re.search(self.CLOCK, expression)) or not self.known.isdisjoint(re.findall(r"\w+", expression))

    def operands(self, arguments: str) -> list[str]:
        parts, depth = [""], 0
        for letter in arguments:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += letter
        return [part.strip() for part in parts]

    def is_bound(self, operand: str) -> bool:
        number = re.fullmatch(r"-?[\d'.]+\w*", operand)
        return bool(number and float(re.sub(r"[^\d.]", "", operand) or 0)) or operand in self.constants

    def compares_time(self, operands: list[str]) -> bool:
        if any(self.is_time(each) or self.DURATION.search(each) for each in operands):
            return True
        measured = [each for each in operands if any(map(MEASURED.fullmatch, re.findall(r"\w+", each)))]
        return bool(measured) and any(self.is_bound(each) for each in operands if each not in measured)

    def comparisons(self) -> Iterator[int]:
        for match in self.ORDER.finditer(self.text):
            if self.compares_time(self.operands(self.balanced(match.end() - 1, "()"))):
                yield self.text.count("\n", 0, match.start()) + 1
        for match in self.CONDITION.finditer(self.text):
            condition = self.condition_at(match.end())
            parts = re.split(r"&&|\|\||;", condition)
            compared = [self.BY_SIZE.split(part) for part in parts if self.BY_SIZE.search(part)]
            if self.WAITED.search(condition) or any(
                self.compares_time([each.strip() for each in operands]) for operands in compared
            ):
                yield self.text.count("\n", 0, match.start()) + 1

    def condition_at(self, at: int) -> str:
        """Returns what stands in the brackets there, or up to the end of the statement, without a lambda's body."""
        rest = self.text[at : at + 2000].lstrip()
        if rest.startswith("("):
            rest = self.balanced(self.text.index("(", at), "()")
        else:
            rest = rest.partition(";")[0]
        return rest.partition("{")[0]


def files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.suffix in (".py", ".cpp", ".h") and SKIPPED.isdisjoint(name.parts) and name.as_posix() not in EXEMPT:
            yield path


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "tests"
    count = problems = 0
    for path in files(root):
        text = path.read_text()
        count += 1
        found = (PythonFile(text) if path.suffix == ".py" else CppFile(text)).comparisons()
        for line in sorted(set(found)):
            print(f"{path.relative_to(root)}:{line}: compares a clock: {text.splitlines()[line - 1].strip()}")
            problems += 1
    print(f"{count} files, {problems} comparisons of a clock")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

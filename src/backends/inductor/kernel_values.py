"""The numbers that a kernel computes, for a report to show beside its statements.

    with Noting() as noting:
        compiled(*arguments)
    noting.kernels[0][3]   # "2, 3" for the statement in the fourth line of the first kernel's body

Each statement of a C++ kernel that gives a value a name is followed by one that stores it in memory of this process.
"""

import contextlib
import ctypes
import itertools
import math
import re
from typing import Any
from unittest import mock

import numpy
from torch._inductor.async_compile import AsyncCompile

MOST_TIMES = 4  # of what a loop computes
MOST_LANES = 64  # of a vector
MOST_RUNS = 3  # of lanes that are alike
STATEMENT = re.compile(r"\s*(?:auto )?(tmp\w*) = .*;$")

HEADER = """
struct NotedStatement { int64_t times, lanes, type; double real[NOTED_LANES]; int64_t whole[NOTED_LANES]; };
template <typename T> inline void put_noted(NotedStatement& into, const T& value, int64_t at) {
  if constexpr (std::is_integral_v<T>) {
    into.type = std::is_same_v<T, bool> ? 1 : 2;
    into.whole[at] = static_cast<int64_t>(value);
  } else if constexpr (std::is_convertible_v<T, float>) {
    into.type = std::is_same_v<T, double> ? 4 : 3;
    if constexpr (std::is_same_v<T, double>) into.real[at] = value;
    else into.real[at] = static_cast<float>(value);
  }
}
template <typename T> inline void note_statement(int64_t place, const T& value) {
  NotedStatement& into = reinterpret_cast<NotedStatement*>(NOTED_AT)[place];
  if (into.times < NOTED_TIMES) put_noted(into, value, into.times);
  ++into.times;
}
#if NOTED_VECTORS
template <typename T> inline void note_statement(int64_t place, const at::vec::Vectorized<T>& value) {
  NotedStatement& into = reinterpret_cast<NotedStatement*>(NOTED_AT)[place];
  constexpr int64_t lanes = at::vec::Vectorized<T>::size();
  if (into.times++ || lanes > NOTED_LANES) return;
  T stored[lanes];
  value.store(stored);
  into.lanes = lanes;
  for (int64_t at = 0; at < lanes; ++at) put_noted(into, stored[at], at);
}
#endif
"""


class Statement(ctypes.Structure):
    """NotedStatement of HEADER."""

    _fields_ = (("times", ctypes.c_int64), ("lanes", ctypes.c_int64), ("type", ctypes.c_int64),
                ("real", ctypes.c_double * MOST_LANES), ("whole", ctypes.c_int64 * MOST_LANES))  # fmt: skip

    def text(self) -> str:
        """Returns "1, 2" for what is computed twice, "8 lanes 1, 24 lanes 0" for a vector; empty where it was not
        computed, or is of another type."""
        if self.lanes:
            runs = [(len(list(run)), text) for text, run in itertools.groupby(map(self.number, range(self.lanes)))]
            words = ", ".join(f"{count} lanes {text}" if count > 1 else text for count, text in runs[:MOST_RUNS])
            return f"all lanes {runs[0][1]}" if len(runs) == 1 else words + (", ..." if len(runs) > MOST_RUNS else "")
        shown = [self.number(at) for at in range(min(self.times, MOST_TIMES))]
        return ", ".join(shown) + (", ..." if self.times > MOST_TIMES else "") if self.type else ""

    def number(self, at: int) -> str:
        if self.type < 3:
            return str(self.whole[at]) if self.type == 2 else str(bool(self.whole[at])).lower()
        value = self.real[at] if self.type == 4 or not math.isfinite(self.real[at]) else numpy.float32(self.real[at])
        return str(value).removesuffix(".0")


class Noting(contextlib.ExitStack):
    """While it is open, the C++ kernels that TorchInductor makes note what they compute, in order."""

    def __enter__(self) -> "Noting":
        self.noted: dict[str, tuple[list[int], Any]] = {}  # by a kernel's source: lines of its body, and their notes
        super().__enter__()
        whole = AsyncCompile.cpp_pybinding

        def instrumented(compiler: AsyncCompile, types: list[str], source: str) -> Any:
            return whole(compiler, types, self.with_notes(source))

        self.enter_context(mock.patch.object(AsyncCompile, "cpp_pybinding", instrumented))
        return self

    def with_notes(self, source: str) -> str:
        head, brace, body = source.partition("{\n")
        lines = body.split("\n")
        names = {place: found[1] for place, line in enumerate(lines) if (found := STATEMENT.match(line))}
        # It may be asked for twice: when it is written, and when it is called.
        _, memory = self.noted.setdefault(source, (list(names), (Statement * max(1, len(names)))()))
        begins = head.find('extern "C"')
        if begins < 0:
            return source
        for number, (place, name) in enumerate(names.items()):
            lines[place] += f" note_statement({number}, {name});"
        settings = {"AT": hex(ctypes.addressof(memory)), "TIMES": MOST_TIMES, "LANES": MOST_LANES,
                    "VECTORS": int("at::vec::" in body)}  # fmt: skip
        defined = "".join(f"#define NOTED_{name} {value}\n" for name, value in settings.items())
        return head[:begins] + defined + HEADER + head[begins:] + brace + "\n".join(lines)

    @property
    def kernels(self) -> list[dict[int, str]]:
        """The texts of each kernel's values by the line of its body."""
        return [{place: text for place, each in zip(places, memory) if (text := each.text())}
                for places, memory in self.noted.values()]  # fmt: skip

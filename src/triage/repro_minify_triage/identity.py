"""Which failures are one bug. What a key consists of is said by repro-minify (report.json); here it is compared."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

SAME_PART_REASONS = {
    "canonical": "the reduced program is the same",
    "guilty": "the guilty step is the same",
    "essence": "the operators are the same",
    "detail": "the message or the frames are the same",
    "kind": "the kind of failure is the same",
}
WEIGHTS = {"canonical": 4.0, "guilty": 2.0, "essence": 3.0, "detail": 2.0, "kind": 0.5}
PERHAPS_SAME_FROM = 5.0
SHAPE_DIFFERS = "all but the shape of the reduced graph, in which a result is read by others too, is the same"


@dataclass(frozen=True)
class Key:
    """Holds what is known of a reduced failure. Failures that agree in backend, kind, guilty step, detail, essence and
    shape are one bug; the canonical form says more (dtypes, arguments): it finds what may be one under another
    backend.
    """

    backend: str
    kind: str
    guilty: str
    detail: str  # the message of an exception, the frames of a crash: what is a number in them says no more than "N"
    canonical: str
    essence: str  # the operators that tell it from others; what could not be reduced has none
    # The shape of the graph: how many results several readers have. A fold of two operators is one fault, and the same
    # fold where another reads what is between them is another. None: written by a program that did not say.
    shared_results: int | None = None

    @property
    def text(self) -> str:
        parts: tuple[str, ...] = (self.backend, self.kind, self.guilty, self.detail, self.essence or self.canonical)
        if self.shared_results:
            parts += (f"{self.shared_results} results are shared",)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def text_without_shape(self) -> str:
        return replace(self, shared_results=None).text

    def is_one_bug_with(self, other: "Key") -> bool:
        """A shape that is not known differs from none."""
        if None in (self.shared_results, other.shared_results):
            return self.text_without_shape == other.text_without_shape
        return self.text == other.text

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(parts: dict[str, Any]) -> "Key":
        """A store of an older version has operators in place of the essence."""
        known = {name: part for name, part in parts.items() if name != "operators"}
        return Key(**{"essence": " ".join(parts.get("operators", ())), **known})


DTYPES = (
    "float float16 float32 float64 double half bfloat16 int int8 int16 int32 int64 long short char byte uint8 bool "
    "complexfloat complexdouble complexhalf complex64 complex128"
)
DTYPE = re.compile(
    rf"\b(?:c10::|torch\.|aten::)?(?:CPU|CUDA)?(?:{DTYPES.replace(' ', '|')})(?:Type|Tensor)?\b", re.IGNORECASE
)


def without_dtypes(message: str) -> str:
    """A message that names what type a tensor has, or should have, is the same of another type; and whether PyTorch's
    interpreter has put the name of the exception before it depends on where in a model it was raised."""
    return DTYPE.sub("T", message.removeprefix("RuntimeError: "))


def without_numbers(message: str) -> str:
    """Sizes, indices, addresses and line numbers differ from host to host."""
    message = re.sub(r"0x[0-9a-fA-F]+|\b\d+(?:x\d+)+\b", "N", message)  # "(2x5 and 3x4)" are shapes
    message = re.sub(r"(?<![A-Za-z_0-9.])-?\d+(\.\d+)?(e[-+]?\d+)?", "N", message)
    return re.sub(r"\[N(?:,\s*N)*\]", "[N]", message)


def key_of(report: dict[str, Any], variant: str, model_digest: str) -> Key:
    """The key of what report.json reports. A model that could not be reduced is like no other."""
    verdict, bisect, program = report["verdict"], report.get("bisect") or {}, report.get("program")
    # One fault gives an infinity here and a NaN there, by what reads it.
    detail = "" if verdict["kind"] == "nan" else verdict.get("detail") or ""
    return Key(
        backend=variant,
        kind=verdict["kind"],
        guilty=bisect.get("pass") or "",
        detail=without_dtypes(without_numbers(detail)),
        canonical=program["canonical"] if program else f"not reduced: {model_digest}",
        essence=program["essence"] if program else "",
        shared_results=program.get("shared_results") if program else None,
    )


def likeness(one: Key, other: Key) -> tuple[float, list[str]]:
    """How much speaks for one bug, and what."""
    agreed = [part for part in WEIGHTS if getattr(one, part) and getattr(one, part) == getattr(other, part)]
    score, why = sum(WEIGHTS[part] for part in agreed), [SAME_PART_REASONS[part] for part in agreed]
    if one.text != other.text and one.text_without_shape == other.text_without_shape:
        return max(score, PERHAPS_SAME_FROM), [*why, SHAPE_DIFFERS]
    return score, why


def perhaps_same(key: Key, others: Iterable[tuple[int, Key]]) -> list[tuple[int, str]]:
    """Other bugs that may be this one, the likeliest first, each with the reason."""
    scored = [(likeness(key, other), number) for number, other in others if other.text != key.text]
    likely = sorted(((score, number, why) for (score, why), number in scored if score >= PERHAPS_SAME_FROM),
                    key=lambda row: (-row[0], row[1]))  # fmt: skip
    return [(number, "; ".join(why)) for _, number, why in likely]


def furthest_first(keys: dict[int, Key]) -> list[int]:
    """So that the first ten of a list are ten different bugs: each is the one least like all before it."""
    left = sorted(keys)
    if not left:
        return []
    order = [left.pop(0)]
    nearest = {number: likeness(keys[number], keys[order[0]])[0] for number in left}
    while left:
        chosen = min(left, key=lambda number: (nearest[number], number))
        left.remove(chosen)
        order.append(chosen)
        for number in left:
            nearest[number] = max(nearest[number], likeness(keys[number], keys[chosen])[0])
    return order

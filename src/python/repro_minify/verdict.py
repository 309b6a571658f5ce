"""The verdict of one check by the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .original import Original


@dataclass(frozen=True)
class Verdict:
    outcome: str  # "pass" or "fail"; "unresolved" where nothing can be said
    kind: str  # of failure: "accuracy", "exception", "crash"; empty where there is none
    where: str  # the output, gradient or buffer that fails first
    message: str
    backend: str
    details: dict[str, Any] = field(repr=False)  # the JSON of the program, whole
    lets_whole_numbers_pass: bool = False  # some differ, within the tolerance of PyTorch's rule
    sum_tolerance: float | None = None  # by which a gradient that passes is wrong, as it would be if it were of a sum
    original: Original | None = None  # how the model itself fails under torch.compile, where its trace does not

    @property
    def failed(self) -> bool:
        return self.outcome == "fail"

    def __str__(self) -> str:
        kind = f": {self.kind}" if self.kind else ""
        lines = [f"{self.outcome} under {self.backend}{kind}", self.message, str(self.original or "")]
        return "\n".join(line for line in lines if line)

    def rows(self) -> list[dict[str, Any]]:
        """One for each output, gradient and buffer that was compared."""
        details = self.details.get("details", {})
        kinds = (("outputs", "output"), ("gradients", "gradient of "), ("state", ""))
        return [{**leaf, "name": word + leaf["path"]} for key, word in kinds for leaf in details.get(key, [])]

    def _repr_html_(self) -> str:
        from .rendering import page

        return page("verdict", verdict=self)


def verdict_of_run(answer: dict[str, Any]) -> Verdict:
    """Returns the verdict in an answer of `repro-minify run --json`."""
    said, rate = answer["verdict"], answer["rate"]
    outcome = str(said["outcome"])
    if outcome == "fail" and rate["failed"] < rate["need"]:
        outcome = "pass"  # fails at times, but not as often as --need wants it
    return Verdict(
        outcome,
        str(said["kind"] or ""),
        str(said["where"]),
        str(said["message"]),
        str(answer["backend"]),
        answer,
        bool(said.get("lets_whole_numbers_pass")),
        said.get("sum_tolerance"),
    )


def verdict_of_report(report: dict[str, Any]) -> Verdict:
    """Returns the verdict in report.json: what the reduced program fails with."""
    said = report["verdict"]
    return Verdict("fail", str(said["kind"]), str(said["where"]), str(said["message"]), str(report["backend"]), report)

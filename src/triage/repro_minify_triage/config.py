"""triage.toml: the options of `run` by their long names. The command line wins."""

import re
import tomllib
from pathlib import Path
from typing import Any

from .errors import TriageError

KNOWN: dict[str, Any] = {
    "models": list, "backend": list, "store": str, "program": str, "python": str, "jobs": int, "runs": int,
    "budget": str, "on": str, "option": list, "verify": bool, "on-new": str,
    "check-timeout": (int, float), "reduce-timeout": (int, float),
}  # fmt: skip

LONGEST = 3e9  # seconds, 95 years: what dates can be counted back by


def read_config(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TriageError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TriageError(f"{path}: is not TOML: {error}") from error
    for name, value in found.items():
        if name not in KNOWN:
            raise TriageError(f"{path}: {name} is no option; known are {', '.join(sorted(KNOWN))}")
        of_texts = not isinstance(value, list) or all(isinstance(each, str) for each in value)
        if not isinstance(value, KNOWN[name]) or isinstance(value, bool) != (KNOWN[name] is bool) or not of_texts:
            raise TriageError(f"{path}: {name} is of the wrong type")
        if isinstance(value, int | float) and not isinstance(value, bool) and value < 1:
            raise TriageError(f"{path}: {name} = {value}: has to be 1 or more")
    return found


def seconds_of(text: str, option: str = "--budget", form: str = "6h, 90m, 30s or 1h30m") -> float:
    """ "6h", "90m", "30s", "1h30m", "7d", or seconds."""
    number = r"(\d+(?:\.\d+)?)"
    parts = re.fullmatch(rf"(?:{number}d)?(?:{number}h)?(?:{number}m)?(?:{number}s?)?", text.strip())
    if not text.strip() or not parts:
        raise TriageError(f"{option} {text}: not a time; write {form}")
    days, hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    return min(days * 86400 + hours * 3600 + minutes * 60 + seconds, LONGEST)

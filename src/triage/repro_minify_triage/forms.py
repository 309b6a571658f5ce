"""A report as JSON, JUnit XML, a Markdown summary, and one HTML page."""

import base64
import hashlib
import json
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from .errors import TriageError
from .states import Shown

COUNTED = (Shown.NEW, Shown.REGRESSED, Shown.FIXED, Shown.FLAKY, Shown.NO_ANSWER, Shown.KNOWN)
WORDS = {str(Shown.NO_ANSWER): "without an answer"}  # after a number


def write(path: Path, text: str) -> None:
    """Writes a file whole or not at all: a reader never sees half of a page. What is no file, as a pipe or /dev/stdout,
    is written to, and not replaced."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise TriageError(f"{path}: cannot be written ({error.strerror}); name another file") from error


def as_json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, indent=2) + "\n"


def printable(text: str) -> str:
    """XML has no way to say a control character."""
    return "".join(c if c in "\t\n" or c.isprintable() else "\ufffd" for c in text)


def counts_of(facts: dict[str, Any]) -> dict[str, int]:
    states = [bug["state"] for bug in facts["bugs"]]
    return {str(shown): states.count(shown) for shown in COUNTED}


def markdown_text(text: str) -> str:
    """Text of others inside Markdown: neither markup nor a mention of a person nor the end of a table's cell."""
    text = "".join("\\" + c if c in "\\`*_{}[]()#+-.!|<>~&$" else c for c in " ".join(printable(str(text)).split()))
    return text.replace("@", "@\u200b")


def fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}python\n{text.rstrip()}\n{fence}"


def counted(number: int, word: str) -> str:
    """Returns "1 bug", "2 bugs"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def environment(autoescape: bool) -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"md": markdown_text, "fenced": fenced, "counted": counted}
    return found


def as_markdown(facts: dict[str, Any]) -> str:
    template = environment(autoescape=False).get_template("summary.md.j2")
    return template.render(facts=facts, counts=counts_of(facts), night=facts["nights"][-1])


def source(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text()


def digest_for_policy(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


SHOWN_FIRST = ("repro.py", "repro.cpp", "report.html", "report.md")  # of the files of a repro


def repros_of(facts: dict[str, Any], from_page: Callable[[str], str]) -> dict[tuple[int, str], dict[str, str] | None]:
    """Returns by bug and model the file to run: of what the model was reduced to, else of the bug itself."""
    found = {}
    for bug in facts["bugs"]:
        own = {model: program for program in bug["programs"] for model in program["models"]}
        for sighting in bug["sightings"]:
            one = own.get(sighting["model"], bug)
            name = next((name for name in SHOWN_FIRST if name in one["files"]), None)
            link = {"name": name, "file": f"{from_page(one['repro'])}/{name}"} if name else None
            found[bug["id"], sighting["model"]] = link
    return found


def as_html(facts: dict[str, Any], beside: Path) -> str:
    """`beside`: the folder that the page will lie in, which its links start from. The policy lets it run its own script
    and nothing else, and fetch nothing."""
    css, js = source("page.css"), source("page.js")
    last = facts["nights"][-1]["id"]
    first = facts["since"] or last

    def from_page(folder: str) -> str:
        return quote(os.fsencode(os.path.relpath(folder, beside)))

    made = environment(autoescape=True)
    made.filters["from_page"] = from_page
    return made.get_template("page.html.j2").render(
        facts=facts,
        counts=counts_of(facts),
        words=WORDS,
        night=facts["nights"][-1],
        nights=f"nights {first} to {last}" if first != last else f"night {last}",
        css=Markup(css),
        js=Markup(js),
        policy=f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {digest_for_policy(css)}; "
        f"script-src {digest_for_policy(js)}",
        choices={
            "state": sorted({bug["state"] for bug in facts["bugs"]}),
            "backend": sorted({bug["backend"] for bug in facts["bugs"]}),
            "step": sorted({bug["parts"]["guilty"] or "not known" for bug in facts["bugs"]}),
        },
        repros=repros_of(facts, from_page),
    )

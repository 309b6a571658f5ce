"""The command line of repro-minify-triage. Errors end here, in one sentence."""

import os
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from . import forms, marks, versions
from .build_facts import build_facts, require_known
from .config import read_config, seconds_of
from .errors import TriageError
from .facts import exit_code_of, facts_of
from .jobs import clear
from .models import find_models
from .night import Night, Plan
from .pools import make_pool
from .states import Shown
from .store import Store, only_run
from .variants import parse_variants

DEFAULT_STORE = "triage"
PROGRAM_VARIABLE = "REPRO_MINIFY_PROGRAM"  # as in the package repro_minify
app = typer.Typer(
    help="Nightly triage with repro-minify: from a folder of models to a list of bugs. Nothing is ever filed anywhere.",
    epilog="Exit codes: 0 nothing new, 1 new or regressed bugs, 2 usage, 3 some models got no answer.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
StoreOption = Annotated[Path, typer.Option("--store", help="the folder of what is known")]


def program_path(given: str | None) -> str:
    named = os.environ.get(PROGRAM_VARIABLE)
    name = given or named or "repro-minify"
    found = shutil.which(name)
    if not found:
        whose = f"{PROGRAM_VARIABLE}=" if named and not given else ""
        raise TriageError(f"{whose}{name}: no such program; build it (scripts/build.sh), or name it with --program")
    return str(Path(found).resolve())


@app.command()
def run(
    models: Annotated[list[str] | None, typer.Argument(help="files, folders or globs of TorchScript models")] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option("--backend", "-b", help="a backend, or several with commas; options may follow: 'jit --grad'"),
    ] = None,
    store: Annotated[Path | None, typer.Option("--store", help="the folder of what is known (default: triage)")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with any of these options")] = None,
    budget: Annotated[str | None, typer.Option(help="time for reductions: 6h, 90m (default: 6h)")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="jobs at a time (default: one a core)")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="checks of what fails; one that passes is flaky (default: 3)")
    ] = None,
    python: Annotated[str | None, typer.Option(help="interpreter with torch, for the backend inductor")] = None,
    program: Annotated[
        str | None, typer.Option(help="repro-minify (default: $REPRO_MINIFY_PROGRAM, else from PATH)")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="an option of repro-minify, for every check: --option=--calls=5")
    ] = None,
    verify: Annotated[
        bool | None, typer.Option("--verify/--no-verify", help="build and run each repro (minutes)")
    ] = None,
    on: Annotated[str | None, typer.Option(help="where jobs run: local, ray, or ray://HOST:PORT")] = None,
) -> None:
    """A night: checks every model under every backend, and reduces what is not known yet."""
    given = {
        "models": models, "backend": backend, "store": store and str(store), "budget": budget, "jobs": jobs,
        "runs": runs, "python": python, "program": program, "option": option, "verify": verify, "on": on,
    }  # fmt: skip
    settings = read_config(config) | {name: value for name, value in given.items() if value not in (None, [])}
    raise typer.Exit(run_night(settings))


def plan_of(settings: dict[str, Any]) -> Plan:
    if not settings.get("backend"):
        raise TriageError("--backend: none given; `repro-minify backends` lists them")
    added = list(settings.get("option", []))
    variants = parse_variants(settings["backend"])
    return Plan(
        variants=tuple(type(one)(one.backend, (*one.options, *added)) for one in variants),
        runs=settings.get("runs", 3),
        budget=seconds_of(settings.get("budget", "6h")),
        check_timeout=float(settings.get("check-timeout", 600)),
        reduce_timeout=float(settings.get("reduce-timeout", 1800)),
        reduce_options=() if settings.get("verify") else ("--no-verify",),
        python=settings.get("python") or "",
    )


def run_night(settings: dict[str, Any]) -> int:
    if not settings.get("models"):
        raise TriageError("models: none given; name files, folders or globs")
    plan, folder = plan_of(settings), Path(settings.get("store", DEFAULT_STORE))
    program = program_path(settings.get("program"))
    require_known(program, plan.variants)
    models = find_models(settings["models"])
    with only_run(folder, create=True):
        store = Store(folder, create=True)
        build = build_facts(program, settings.get("python"))
        lasting = {"variants": [str(each) for each in plan.variants], "runs": plan.runs, "options": plan.reduce_options}
        number, goes_on = store.begin_night(build, lasting, models)
        typer.echo(
            f"night {number}"
            + (", which was cut off, goes on" if goes_on else "")
            + f", torch {build['torch']}"
            + (f", Python {build['python']}" if build["python"] else "")
        )
        # A folder of this process's own: children of one that was killed may still write to theirs.
        clear(folder / "work")
        work = folder / "work" / str(os.getpid())
        pool = make_pool(settings.get("on", "local"), program, work, settings.get("jobs") or os.cpu_count() or 1)
        try:
            Night(store, pool, plan, models, number, say).run()
        finally:
            pool.close()
            clear(folder / "work")
        facts = facts_of(store)
    typer.echo(summary_line(facts))
    return exit_code_of(facts)


def summary_line(facts: dict[str, Any]) -> str:
    counts = forms.counts_of(facts)
    passing = sum(bool(bug["outlook"]) for bug in facts["bugs"])
    added = {str(Shown.KNOWN): f" ({passing} of them clean tonight)" if passing else ""}
    words = [f"{number} {word}{added.get(word, '')}" for word, number in counts.items() if number]
    more = [f"{len(facts[name])} {text}" for name, text in (
        ("no_answer", "checks without an answer"), ("flaky", "flaky checks"), ("not_reduced", "not reduced"),
        ("left_out", "left for tomorrow")) if facts[name]]  # fmt: skip
    return f"night {facts['nights'][-1]['id']}: " + (", ".join(words + more) or "no bugs")


@app.command()
def report(
    store: StoreOption = Path(DEFAULT_STORE),
    html: Annotated[
        Path | None, typer.Option(help="the page (default, where no file is named: STORE/report.html)")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="for scripts")] = None,
    junit: Annotated[Path | None, typer.Option(help="JUnit XML, for a CI")] = None,
    markdown: Annotated[Path | None, typer.Option(help="a summary, for a CI job")] = None,
) -> None:
    """What the last night found: a page, JSON, JUnit XML, Markdown."""
    facts = facts_of(Store(store))
    if not any((html, json, junit, markdown)):
        html = store / "report.html"
    if html:
        forms.write(html, forms.as_html(facts, html.resolve().parent))
    for path, form in ((json, forms.as_json), (junit, forms.as_junit), (markdown, forms.as_markdown)):
        if path:
            forms.write(path, form(facts))
    for path in filter(None, (html, json, junit, markdown)):
        typer.echo(path)
    raise typer.Exit(exit_code_of(facts))


def clean(text: str) -> str:
    """A model's words on a terminal: no control characters."""
    return "".join(c if c in "\n" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def one_line(text: str) -> str:
    """A name with a line break in it says nothing on a line of its own."""
    return clean(text.replace("\n", "\\n"))


def say(text: str) -> None:
    typer.echo(one_line(text))


@app.command("list")
def list_bugs(
    store: StoreOption = Path(DEFAULT_STORE),
    state: Annotated[
        str | None, typer.Option(help="only these: new, known, regressed, fixed, flaky, 'no answer', ...")
    ] = None,
) -> None:
    """One line for each bug."""
    for bug in facts_of(Store(store))["bugs"]:
        if state is None or bug["state"].split(" of ")[0] == state:
            step = bug["parts"]["guilty"] or bug["parts"]["kind"]
            word = bug["state"] + (", passes" if bug["outlook"] else "")
            line = f"{bug['id']:>4}  {word:<14} {bug['backend']:<24} {step:<36} {bug['models']:>3} models"
            line += f"  {bug['message']}"
            typer.echo(one_line(line)[:200])


@app.command()
def show(bug: int, store: StoreOption = Path(DEFAULT_STORE)) -> None:
    """All about one bug."""
    opened = Store(store)
    marks.bug_row(opened, bug)
    found = next(each for each in facts_of(opened)["bugs"] if each["id"] == bug)
    lines = [
        f"bug {bug}: {found['state']}, {found['parts']['kind']} under {found['backend']}",
        *(f"  {text}" for text in [found["outlook"]] if text),
        f"  {found['message']}",
        f"  guilty step: {found['parts']['guilty'] or 'not known'}",
        f"  key {found['key']}: {found['parts']['canonical']}",
        f"  first seen in night {found['first_night']}; "
        + ", ".join(f"{n['night']} {n['shown']}" for n in found["nights"]),
        f"  repro: {found['repro']}",
        *(f"  not a bug: {why}" for why in [found["not_a_bug"]] if why),
        *(f"  note: {note}" for note in found["notes"]),
        *(f"  perhaps bug {other['id']}: {other['why']}" for other in found["perhaps_same"][:5]),
        "",
        *("  " + line for line in found["program"].splitlines()),
        "",
        *(f"  night {s['night']}: {s['model']} ({s['evidence']})" for s in found["sightings"]),
    ]
    typer.echo("\n".join(map(one_line, lines)))


@app.command()
def mark(
    bug: int,
    store: StoreOption = Path(DEFAULT_STORE),
    duplicate_of: Annotated[int | None, typer.Option(help="it is that other bug")] = None,
    not_a_bug: Annotated[str | None, typer.Option(help="why")] = None,
    note: Annotated[str | None, typer.Option(help="is shown with the bug")] = None,
    split: Annotated[
        str | None, typer.Option(help="a model that shows another bug; it gets a number of its own")
    ] = None,
) -> None:
    """What a person decided: it stands above what the program thinks, and stays."""
    given = [each for each in (duplicate_of, not_a_bug, note, split) if each is not None]
    if len(given) != 1:
        raise TriageError("mark: give one of --duplicate-of, --not-a-bug, --note, --split")
    with only_run(store):
        opened = Store(store)
        if duplicate_of is not None:
            marks.mark_duplicate(opened, bug, duplicate_of)
        elif not_a_bug is not None:
            marks.mark_not_a_bug(opened, bug, not_a_bug)
        elif note is not None:
            marks.add_note(opened, bug, note)
        elif split is not None:
            typer.echo(f"bug {marks.split(opened, bug, split)}")


@app.command("versions")
def versions_command(
    bug: int,
    python: Annotated[list[str], typer.Option(help="an interpreter with torch, oldest first; give several")],
    store: StoreOption = Path(DEFAULT_STORE),
) -> None:
    """In which versions of torch a bug shows: its repro.py under each interpreter, halving over a longer list."""
    opened = Store(store)
    answers = versions.versions(opened.artefact_folder(marks.bug_row(opened, bug)["artefact"]), python)
    for answer in answers:
        typer.echo(clean(f"{answer.python}: torch {answer.torch}: {answer.outcome} {answer.message}".rstrip()))
    typer.echo(f"bug {bug}: {versions.sentence(answers)}")


def main() -> None:
    try:
        sys.exit(app(standalone_mode=False))
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except TriageError as error:
        print(f"error: {clean(str(error))}", file=sys.stderr)
        sys.exit(2)
    except (OSError, sqlite3.Error) as error:
        print(
            f"error: {clean(str(error))}; what was answered so far is kept, and the same command goes on",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()

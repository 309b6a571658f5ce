"""The command line of repro-minify-triage. Errors end here, in one sentence."""

import errno
import os
import shutil
import sqlite3
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from . import forms, junit, marks, on_new, pruning, versions
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
DUPLICATE = "duplicate"  # the state of a bug that was marked so, of whatever other
INTERRUPTED = 130  # the exit code
OWN_ERROR = 70  # that of an internal error
PROGRAM_VARIABLE = "REPRO_MINIFY_PROGRAM"  # as in the package repro_minify
app = typer.Typer(
    help="Nightly triage with repro-minify: from a folder of models to a list of bugs. Nothing is ever filed anywhere.",
    epilog="Exit codes: 0 nothing new, 1 new or regressed bugs, 2 usage, 3 some models got no answer.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
# Later versions of typer have a click of their own: the class is the one that this typer raises.
CommandLineError: Any = next(each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException")
StoreOption = Annotated[Path, typer.Option("--store", help="the folder of what is known")]


def program_path(given: str | None) -> str:
    named = os.environ.get(PROGRAM_VARIABLE)
    name = given or named or "repro-minify"
    # An environment that is not activated has it beside its Python.
    found = shutil.which(name) or (None if given or named else shutil.which(name, path=Path(sys.executable).parent))
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
        str | None,
        typer.Option(help="repro-minify (default: $REPRO_MINIFY_PROGRAM, else from PATH, else beside this Python)"),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="an option of repro-minify, for every check: --option=--calls=5")
    ] = None,
    verify: Annotated[
        bool | None, typer.Option("--verify/--no-verify", help="build and run each repro (minutes)")
    ] = None,
    on: Annotated[str | None, typer.Option(help="where jobs run: local, ray, or ray://HOST:PORT")] = None,
    on_new: Annotated[
        str | None,
        typer.Option(
            help="a command for each bug that is new or came back: TRIAGE_BUG, _STATE, ... in its "
            "environment, all of it as JSON on its standard input; no shell"
        ),
    ] = None,
) -> None:
    """A night: checks every model under every backend, and reduces what is not known yet."""
    given = {
        "models": models, "backend": backend, "store": store and str(store), "budget": budget, "jobs": jobs,
        "runs": runs, "python": python, "program": program, "option": option, "verify": verify, "on": on,
        "on-new": on_new,
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
    command = on_new.command_of(settings["on-new"]) if settings.get("on-new") else None
    models = find_models(settings["models"])
    with only_run(folder, create=True), Store(folder, create=True) as store:
        if command and store.nights():  # what a run that was killed, or the command itself, left untold
            on_new.tell(store, facts_of(store), command, say)
        build = build_facts(program, settings.get("python"))
        lasting = {"variants": [str(each) for each in plan.variants], "runs": plan.runs, "options": plan.reduce_options}
        number, goes_on = store.begin_night(build, lasting, models)
        say(
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
        say(summary_line(facts))
        if command:
            on_new.tell(store, facts, command, say)
    return exit_code_of(facts)


def summary_line(facts: dict[str, Any]) -> str:
    """Returns a line that says with each number what it counts: bugs first, then checks and models."""
    counts = forms.counts_of(facts)
    passing = sum(bool(bug["outlook"]) for bug in facts["bugs"])
    added = {str(Shown.KNOWN): f" ({passing} of them clean tonight)" if passing else ""}
    said = {word: forms.WORDS.get(word, word) + added.get(word, "") for word in counts}
    words = [f"{number} {said[word]}" for word, number in counts.items() if number]
    more = [f"{len(facts[name])} {text}" for name, text in (
        ("no_answer", "checks without an answer"), ("unreadable", "unreadable models"), ("flaky", "flaky checks"),
        ("not_reduced", "not reduced"), ("left_out", "left for tomorrow")) if facts[name]]  # fmt: skip
    bugs = f"bugs: {', '.join(words)}" if words else "no bugs"
    return f"night {facts['nights'][-1]['id']}: " + "; ".join([bugs, *more])


@app.command()
def report(
    store: StoreOption = Path(DEFAULT_STORE),
    html: Annotated[
        Path | None, typer.Option(help="the page (default, where no file is named: STORE/report.html)")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="for scripts")] = None,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="JUnit XML, for a CI")] = None,
    markdown: Annotated[Path | None, typer.Option(help="a summary, for a CI job")] = None,
    since: Annotated[
        str | None, typer.Option(help="what became of bugs from then on: a night's number, 2026-11-20, 7d")
    ] = None,
    junit_known: Annotated[
        str, typer.Option(help="what fails because of known bugs only: skip (skipped in the JUnit XML) or fail")
    ] = "skip",
) -> None:
    """Writes what the last night found: a page, JSON, JUnit XML, Markdown."""
    if junit_known not in junit.KNOWN_AS:
        raise TriageError(f"--junit-known {junit_known}: give {' or '.join(junit.KNOWN_AS)}")
    with Store(store) as opened:
        facts = facts_of(opened, since)
    if not any((html, json, junit_file, markdown)):
        html = store / "report.html"
    if html:
        forms.write(html, forms.as_html(facts, html.resolve().parent))
    if junit_file:
        forms.write(junit_file, junit.as_junit(facts, junit_known))
    for path, form in ((json, forms.as_json), (markdown, forms.as_markdown)):
        if path:
            forms.write(path, form(facts))
    for path in filter(None, (html, json, junit_file, markdown)):
        typer.echo(path)
    raise typer.Exit(exit_code_of(facts))


@app.command()
def prune(
    store: StoreOption = Path(DEFAULT_STORE),
    keep_nights: Annotated[int | None, typer.Option(min=1, help="how many of the last nights stay whole")] = None,
    older_than: Annotated[str | None, typer.Option(help="only nights that ended so long ago: 90d, 36h")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="do it; without it, what would go is only said")] = False,
) -> None:
    """Makes the store smaller: removes answers of old nights, and folders that no bug needs."""
    age = seconds_of(older_than, "--older-than", "90d, 36h") if older_than is not None else None
    with only_run(store), Store(store) as opened:
        gone = pruning.prune(opened, pruning.old_nights(opened, keep_nights, age), does_it=yes)
    verb = "removed" if yes else "would remove"
    nights = f"nights {gone.nights[0]} to {gone.nights[-1]}" if gone.nights else "no further night"
    typer.echo(f"{verb}: {nights}, {gone.answers} answers, {gone.reductions} reductions that later ones stand for")
    for folder in gone.folders:
        typer.echo(one_line(f"{verb}: {folder}"))
    typer.echo(f"{verb}: {len(gone.folders)} folders, {gone.bytes / 2**20:.1f} MiB; bugs, marks and states stay")
    if not yes and (gone.nights or gone.answers or gone.folders):
        typer.echo("nothing was removed; --yes removes it")


def clean(text: str) -> str:
    """A model's words on a terminal: no control characters."""
    return "".join(c if c in "\n" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def one_line(text: str) -> str:
    """A name with a line break in it says nothing on a line of its own."""
    return clean(text.replace("\n", "\\n"))


def say(text: str) -> None:
    """Prints a line of a night, which goes on where its reader has gone (`... | head -1`)."""
    try:
        typer.echo(one_line(text))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_trouble_of_the_machine(error: OSError | sqlite3.Error) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
    return str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_FULL", "SQLITE_IOERR"))


@app.command("list")
def list_bugs(
    store: StoreOption = Path(DEFAULT_STORE),
    state: Annotated[
        str | None, typer.Option(help="only these: new, known, regressed, fixed, flaky, 'no answer', duplicate, ...")
    ] = None,
) -> None:
    """One line for each bug."""
    known = [*map(str, Shown), "not a bug", DUPLICATE]
    if state is not None and state not in known:
        raise TriageError(f"--state {state}: no such state; give one of {', '.join(known)}")
    with Store(store) as opened:
        bugs = facts_of(opened)["bugs"]
    for bug in bugs:
        if state is None or state == (DUPLICATE if bug["duplicate_of"] is not None else bug["state"]):
            step = bug["parts"]["guilty"] or bug["parts"]["kind"]
            word = bug["state"] + (", passes" if bug["outlook"] else "")
            models = forms.counted(bug["models"], "model")
            line = f"{bug['id']:>4}  {word:<14} {bug['backend']:<24} {step:<36} {models:>10}  {bug['message']}"
            typer.echo(one_line(line)[:200])


@app.command()
def show(bug: int, store: StoreOption = Path(DEFAULT_STORE)) -> None:
    """All about one bug."""
    with Store(store) as opened:
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
    """Records what a person decided: it stands above what the program thinks, and stays."""
    given = [each for each in (duplicate_of, not_a_bug, note, split) if each is not None]
    if len(given) != 1:
        raise TriageError("mark: give one of --duplicate-of, --not-a-bug, --note, --split")
    with only_run(store), Store(store) as opened:
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
    with Store(store) as opened:
        folder = opened.artefact_folder(marks.bug_row(opened, bug)["artefact"])
    answers = versions.versions(folder, python)
    for answer in answers:
        typer.echo(clean(f"{answer.python}: torch {answer.torch}: {answer.outcome} {answer.message}".rstrip()))
    typer.echo(f"bug {bug}: {versions.sentence(answers)}")


def main() -> None:
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # what some versions of typer make of it, and others Abort
            raise KeyboardInterrupt
        sys.exit(code)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted; the same command goes on", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except CommandLineError as error:
        error.show()
        sys.exit(2)
    except TriageError as error:
        print(f"error: {clean(str(error))}", file=sys.stderr)
        sys.exit(2)
    except (OSError, sqlite3.Error) as error:
        print(f"error: {clean(str(error))}; what the store has is kept", file=sys.stderr)
        sys.exit(OWN_ERROR if is_trouble_of_the_machine(error) else 2)
    except Exception:
        traceback.print_exc()
        sys.exit(OWN_ERROR)


if __name__ == "__main__":
    main()

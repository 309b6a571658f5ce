"""The answers of table.py as Markdown."""

LARGE_MB = 40  # an archive against which memory says something
MARKS = {"pass": "pass", "fail": "**fail**", "refused": "REFUSED", "eager": "eager", "no answer": "NO ANSWER"}


def of_step(rows, step):
    return {(row["model"], row["backend"]): row for row in rows if row["step"] == step}


def refusals(rows):
    """Returns the rows of the models that Python runs and the tool does not."""
    own = of_step(rows, "pytorch")
    bad = [
        row for row in of_step(rows, "run").values() if row["verdict"] not in ("pass", "fail", "eager", "not supported")
    ]
    return [row for row in bad if own.get((row["model"], row["backend"]), {}).get("verdict") not in ("raises", "eager")]


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def line(cells):
    return "| " + " | ".join(map(cell, cells)) + " |"


def table(head, rows):
    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def came_down_to(row):
    if not row:
        return ""
    if "operators" not in row:
        return f"not reduced: {row.get('why') or 'exit code ' + str(row.get('code'))}"
    seen = {True: "verified", False: "NOT VERIFIED"}.get(row["verified"], "not tried")
    return f"{row['before']} to {row['operators']} operators, {seen}, {row['seconds']:.0f} s"


def agrees(row, own):
    """Returns "agrees" or "DISAGREES" for PyTorch and the tool; an empty string where either has no verdict."""
    if not own or own["verdict"] in ("none", "eager"):
        return ""
    failed = own["verdict"] != "same"
    if row["verdict"] not in ("pass", "fail"):
        return ""
    return "agrees" if failed == (row["verdict"] == "fail") else "DISAGREES"


def failures(rows):
    own, down = of_step(rows, "pytorch"), of_step(rows, "reduce")
    found = []
    for key, row in sorted(of_step(rows, "run").items(), key=lambda item: (item[0][1], item[0][0])):
        if row["verdict"] != "pass" or agrees(row, own.get(key)) == "DISAGREES":
            said = own.get(key, {})
            found.append([row["model"], row["backend"], MARKS.get(row["verdict"], row["verdict"]),
                          row.get("kind") or row["why"][:100], f"{said.get('verdict', '')} {said.get('why', '')}"[:100],
                          came_down_to(down.get(key))])  # fmt: skip
    return found


def memory(row):
    ratio = f" ({row['peak_mb'] / row['archive_mb']:.1f} x)" if row["archive_mb"] >= LARGE_MB else ""
    return f"{row['peak_mb']:.0f} MB{ratio}"


def matrix(rows, backends):
    run = of_step(rows, "run")
    sizes = {row["model"]: row["archive_mb"] for row in rows}
    for model in sorted(sizes):
        cells = []
        for backend in backends:
            row = run.get((model, backend))
            cells.append(
                f"{MARKS.get(row['verdict'], row['verdict'])} {row['seconds']:.0f} s, {memory(row)}" if row else ""
            )
        yield [model, f"{sizes[model]:.1f}", *cells]


def counts(rows, backends):
    run, own = of_step(rows, "run"), of_step(rows, "pytorch")
    for backend in backends:
        mine = {key: row for key, row in run.items() if key[1] == backend}
        if not mine:
            continue
        words = [row["verdict"] for row in mine.values()]
        said = [agrees(row, own.get(key)) for key, row in mine.items()]
        yield [backend, len(mine), words.count("pass"), words.count("fail"), words.count("eager"),
               len([row for row in refusals(rows) if row["backend"] == backend]),
               f"{said.count('agrees')} of {said.count('agrees') + said.count('DISAGREES')}",
               f"{sum(row['seconds'] for row in mine.values()):.0f}"]  # fmt: skip


def markdown(rows, backends):
    models = {row["model"] for row in rows}
    lines = [f"{len(models)} models, {len(of_step(rows, 'run'))} runs, {len(refusals(rows))} refused.", ""]
    lines += table(["backend", "runs", "pass", "fail", "eager not reproducible", "refused", "PyTorch agrees",
        "seconds"],
                   counts(rows, backends))  # fmt: skip
    lines += ["", "What did not pass, or where PyTorch says something else:", ""]
    lines += table(["model", "backend", "verdict", "kind", "PyTorch's own verdict", "comes down to"], failures(rows))
    lines += ["", "Every run: verdict, seconds, peak memory of all processes (and how many times the archive).", ""]
    lines += table(["model", "archive MB", *backends], matrix(rows, backends))
    return "\n".join(lines) + "\n"

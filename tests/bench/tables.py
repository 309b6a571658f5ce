#!/usr/bin/env python3
"""Prints what the benches measured as tables, says which of the project's bars hold, and draws the queries of both
minifiers.

    tables.py FOLDER

Reads fx_minifier.json, programs.json, cases.json and scale.json in FOLDER, those that are there. Writes minifiers.csv,
minifiers.svg, cases.csv and scale.csv there, and puts the rows of both minifiers into planted.json. Never fails on a
number.
"""

import csv
import json
import math
import sys
from pathlib import Path

# PyTorch's minifier is to ask at least so many times our queries ("times" in its rows).
A_TWENTIETH = 20
SHARES = {
    2: "one or adjacent nodes: at most half of fx_minifier's queries",
    A_TWENTIETH: "scattered nodes: at most a twentieth",
}


def table(title, columns, rows):
    cells = [[str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}\n")
    for first, *others in cells:
        print("  ".join([first.ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(others, widths[1:])]))


def bar(text, good, total):
    print(f"  {'holds' if good == total else 'MISSED'}: {text}: {good} of {total}")


def read(folder, name):
    path = folder / name
    return json.loads(path.read_text()) if path.exists() else []


def write_csv(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def put_into(path, rows):
    """Adds the rows to those that are there already, in place of earlier measurements of the same."""
    measured = {(row["name"], row["tool"]) for row in rows}
    others = [row for row in read(path.parent, path.name) if (row["name"], row["tool"]) not in measured]
    path.write_text(json.dumps(others + rows, indent=1) + "\n")


def bound(row):
    """Returns how many yes-no questions tell one set of needed operators from every other of its kind; None for models,
    where the others were never counted."""
    if row["unit"] != "operators":
        return None
    others = math.comb(row["nodes"], row["needed"]) if row["shape"] == "scattered" else row["nodes"]
    return math.log2(others)


def least(row):
    """Returns how much any search with 1-minimal results asks on average, None without a bound: each single deletion of
    what is needed is asked, and tells no two sets of that size apart, so that it comes on top of the bound."""
    if bound(row) is None:
        return None
    return bound(row) + (row["needed"] if row["needed"] > 1 else 0)


def allowed(row, other):
    """Queries; and whether a twentieth of fx_minifier's is less than any search asks: then it is 1.5 times that."""
    share = other["queries"] // other["times"]
    if other["times"] != A_TWENTIETH or least(row) is None or share >= least(row):
        return share, False
    return math.floor(1.5 * least(row)), True


def standing(row, other):
    """Returns how the bar on queries stands. A run that was cut short has asked too little yet, which says nothing."""
    if row["queries"] * other["times"] <= other["queries"]:
        return "holds"
    if other["stopped"]:
        return "undecided"
    return "holds" if row["queries"] <= allowed(row, other)[0] else "MISSED"


def comparison(row, other):
    line = [row["name"], row["nodes"], row["needed"], row["left"], row["queries"], f"{row['wall']:.2f}"]
    line.append(f"{bound(row):.0f}" if bound(row) else "")
    if other:
        more, less = (">", "<") if other["stopped"] else ("", "")
        share = f"{less}{100 * row['queries'] / other['queries']:.1f}%"
        line += [other["left"], f"{more}{other['queries']}", f"{other['wall']:.2f}", other["stopped"], share]
        line.append(standing(row, other))
    return line + [""] * (13 - len(line))


def why_allowed(row, other):
    """Where the bar is another one: what no search can is asked of none."""
    if not allowed(row, other)[1]:
        return ""
    share = other["queries"] // other["times"]
    return f"; 1.5 x {least(row):.1f}, as no search can do with {share}"


def said_of_bar(row, other):
    return f"{row['name']}: {row['queries']}, allowed {allowed(row, other)[0]}{why_allowed(row, other)}"


def share_bars(ours, theirs):
    for times, text in SHARES.items():
        rows = [row for row in ours if row["name"] in theirs and theirs[row["name"]]["times"] == times]
        if not rows:
            continue
        found = {word: [] for word in ("MISSED", "undecided", "holds")}
        for row in rows:
            found[standing(row, theirs[row["name"]])].append(row)
        numbers = [f"{len(found['holds'])} of {len(rows)}"]
        numbers += [f"{len(found[word])} {word}" for word in ("MISSED", "undecided") if found[word]]
        print(f"  {next(word for word in found if found[word])}: {text}: {', '.join(numbers)}")
        for row in found["MISSED"]:
            print(f"    MISSED: {said_of_bar(row, theirs[row['name']])}")
        for row in found["holds"]:
            other = theirs[row["name"]]
            if allowed(row, other)[1] and not other["stopped"]:
                print(f"    holds: {said_of_bar(row, other)}")
        for row in found["undecided"]:
            other = theirs[row["name"]]
            decisive = f"{other['queries']} of the {times * row['queries']} queries that decide"
            print(f"    undecided: {row['name']}: fx_minifier was stopped after {other['stopped']}, at {decisive}")


def minifiers(folder):
    theirs = {row["name"]: row for row in read(folder, "fx_minifier.json")}
    ours = read(folder, "programs.json")
    if not ours:
        return
    columns = ["planted", "nodes", "needed", "left", "queries", "s", "bound"]
    columns += ["fx left", "fx queries", "fx s", "stopped", "queries/fx", "bar"]
    lines = [comparison(row, theirs.get(row["name"])) for row in ours]
    table("repro-minify beside torch._functorch.fx_minifier, same graphs, same structural oracle", columns, lines)
    bar("nothing left but what is needed", sum(row["left"] <= row["needed"] for row in ours), len(ours))
    share_bars(ours, theirs)
    rows = [
        {key: value for key, value in row.items() if key != "passes"} | {"bound": bound(row)}
        for row in [*ours, *theirs.values()]
    ]
    put_into(folder / "planted.json", rows)
    write_csv(folder / "minifiers.csv", rows)
    (folder / "minifiers.svg").write_text(picture(ours, theirs))


def picture(ours, theirs):
    """One line for each program, a dot for each minifier, on a logarithmic scale of queries."""
    rows = [row for row in ours if row["name"] in theirs]
    left, top, step, width = 190, 50, 18, 560
    most = max([10] + [theirs[row["name"]]["queries"] for row in rows] + [row["queries"] for row in rows])
    decades = math.ceil(math.log10(most))
    height = top + step * len(rows) + 20

    def x(queries):
        return left + width * math.log10(max(queries, 1)) / decades

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{left}" y="18">queries: '
        '<tspan fill="#0a6">repro-minify</tspan>, <tspan fill="#c33">fx_minifier</tspan></text>',
    ]
    for decade in range(decades + 1):
        parts.append(
            f'<path d="M{x(10**decade):.1f} {top - 8}V{height - 16}" stroke="#ddd"/>'
            f'<text x="{x(10**decade):.1f}" y="{top - 12}" text-anchor="middle">{10**decade}</text>'
        )
    for i, row in enumerate(rows):
        y = top + step * i + 4
        us, them = x(row["queries"]), x(theirs[row["name"]]["queries"])
        parts.append(
            f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{row["name"]}</text>'
            f'<path d="M{us:.1f} {y}H{them:.1f}" stroke="#bbb"/>'
            f'<circle cx="{us:.1f}" cy="{y}" r="4" fill="#0a6"/><circle cx="{them:.1f}" cy="{y}" r="4" fill="#c33"/>'
        )
    return "\n".join(parts + ["</svg>"]) + "\n"


def is_small_enough(row):
    """A count that could not be had is -1: that is no small one."""
    return 0 <= row["operators_after_freezing"] <= row["operators_at_most"]


def two_jobs_bar(rows):
    """Every case that was worth two jobs counts, not the one that gained most."""
    worth = [row for row in rows if "speedup_of_two_jobs" in row or "exit_code_with_two_jobs" in row]
    for row in worth:
        said = f"{row['speedup_of_two_jobs']} x as fast as one" if "speedup_of_two_jobs" in row else "failed"
        print(f"  {row['name']}, {row['ms_a_check']:.0f} ms a check: two jobs are {said}")
    if worth:
        bar("two jobs 1.6 x as fast as one", sum(row.get("speedup_of_two_jobs", 0) >= 1.6 for row in worth), len(worth))


def cases(folder):
    rows = read(folder, "cases.json")
    if not rows:
        return
    done = [row for row in rows if "checks" in row]
    columns = ["case", "backend", "nodes", "operators", "frozen", "at most", "elements", "data file", "checks"]
    columns += ["wall s", "checks/s", "ms/check", "ms outside/check"]
    keys = ["name", "backend", "nodes", "operators", "operators_after_freezing", "operators_at_most", "elements"]
    keys += ["data_file", "checks", "wall"]
    keys += ["checks_per_second", "ms_a_check", "outside_ms_a_check"]
    words = {True: "yes", False: "no"}
    lines = [[words.get(row[key], row[key]) if key == "data_file" else row[key] for key in keys] for row in done]
    table("fixtures/cases, one job, not verified", columns, lines)
    for row in rows:
        if "exit_code" in row:
            print(f"{row['name']}: exit code {row['exit_code']}")
    total = len(rows)
    bar("as many operators as the case's row allows", sum(map(is_small_enough, done)), total)
    files = sum(not row["data_file"] for row in done)
    print(f"  {'holds' if files * 10 >= total * 9 else 'MISSED'}: nine in ten need no data file: {files} of {total}")
    bar("300 checks or fewer", sum(row["checks"] <= 300 for row in done), total)
    bar("3 ms outside the check or less", sum(row["outside_ms_a_check"] <= 3 for row in done), total)
    two_jobs_bar(done)
    write_csv(folder / "cases.csv", rows)


def scale(folder):
    rows = read(folder, "scale.json")
    if not rows:
        return
    first, lines, slow = rows[0], [], 0
    for row in rows:
        n_log_n = row["nodes"] * math.log(row["nodes"]) / (first["nodes"] * math.log(first["nodes"]))
        outside, processor = row["outside_oracle"], row["processor"]
        slow += outside > n_log_n * first["outside_oracle"]
        line = [row["nodes"], row["queries"], row["left"], f"{row['wall']:.3f}", f"{outside:.3f}", f"{processor:.3f}"]
        line += [f"{1000 * outside / row['queries']:.2f}", f"{1000 * processor / row['queries']:.2f}"]
        lines.append(line + [f"x {outside / first['outside_oracle']:.1f}", f"x {n_log_n:.1f}"])
    columns = ["nodes", "checks", "left", "wall s", "outside s", "processor s"]
    columns += ["outside ms/check", "processor ms/check", "outside", "n log n"]
    title = "One planted failure in a residual graph, structural check; processor: of the reducing process alone"
    table(title, columns, lines)
    bar("time outside the checks grows no faster than n log n", len(rows) - slow, len(rows))
    write_csv(folder / "scale.csv", [{key: value for key, value in row.items() if key != "passes"} for row in rows])


def main():
    folder = Path(sys.argv[1])
    minifiers(folder)
    cases(folder)
    scale(folder)


if __name__ == "__main__":
    main()

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

# What a program has to come down to in queries, as a share of what PyTorch's minifier asks.
SHARE = {"one": 1 / 2, "adjacent": 1 / 2, "scattered": 1 / 20, "path": 1 / 20}


def table(title, columns, rows):
    cells = [[str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}\n")
    for row in cells:
        print("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))))


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
    """Beside what is there already, in place of earlier measurements of the same."""
    measured = {(row["name"], row["tool"]) for row in rows}
    others = [row for row in read(path.parent, path.name) if (row["name"], row["tool"]) not in measured]
    path.write_text(json.dumps(others + rows, indent=1) + "\n")


def minifiers(folder):
    theirs = {row["name"]: row for row in read(folder, "fx_minifier.json")}
    ours = read(folder, "programs.json")
    if not ours:
        return
    lines, minimal, few, compared = [], 0, 0, 0
    for row in ours:
        other = theirs.get(row["name"])
        minimal += row["left"] <= row["needed"]
        line = [row["name"], row["nodes"], row["needed"], row["left"], row["queries"], f"{row['wall']:.2f}"]
        if other:
            compared += 1
            few += row["queries"] <= SHARE[row["shape"]] * other["queries"]
            at_least = ">" if other["stopped"] else ""
            share = f"{100 * row['queries'] / other['queries']:.0f}%"
            line += [other["left"], f"{at_least}{other['queries']}", f"{other['wall']:.2f}", share]
        lines.append(line + [""] * (10 - len(line)))
    columns = ["planted", "nodes", "needed", "left", "queries", "s", "fx left", "fx queries", "fx s", "queries/fx"]
    table("repro-minify beside torch._functorch.fx_minifier, same graphs, same structural oracle", columns, lines)
    bar("nothing left but what is needed", minimal, len(ours))
    bar("half of fx_minifier's queries or fewer, a twentieth where nodes are scattered", few, compared)
    rows = ours + list(theirs.values())
    plain = [{key: value for key, value in row.items() if key != "passes"} for row in rows]
    put_into(folder / "planted.json", plain)
    write_csv(folder / "minifiers.csv", plain)
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


def cases(folder):
    rows = read(folder, "cases.json")
    if not rows:
        return
    done = [row for row in rows if "checks" in row]
    columns = ["case", "backend", "nodes", "operators", "at most", "elements", "data file", "checks", "wall s", "checks/s"]
    columns += ["ms/check", "ms outside/check"]
    keys = ["name", "backend", "nodes", "operators", "operators_at_most", "elements", "data_file", "checks", "wall"]
    keys += ["checks_per_second", "ms_a_check", "outside_ms_a_check"]
    words = {True: "yes", False: "no"}
    lines = [[words.get(row[key], row[key]) if key == "data_file" else row[key] for key in keys] for row in done]
    table("fixtures/cases, one job, not verified", columns, lines)
    for row in rows:
        if "exit_code" in row:
            print(f"{row['name']}: exit code {row['exit_code']}")
    total = len(rows)
    bar("as many operators as the case's row allows", sum(r["operators"] <= r["operators_at_most"] for r in done), total)
    files = sum(not row["data_file"] for row in done)
    print(f"  {'holds' if files * 10 >= total * 9 else 'MISSED'}: nine in ten need no data file: {files} of {total}")
    bar("300 checks or fewer", sum(row["checks"] <= 300 for row in done), total)
    bar("3 ms outside the check or less", sum(row["outside_ms_a_check"] <= 3 for row in done), total)
    for row in done:
        if "speedup_of_two_jobs" in row:
            print(f"  {row['name']} ({row['ms_a_check']:.0f} ms a check): two jobs are {row['speedup_of_two_jobs']} x as fast as one")
    write_csv(folder / "cases.csv", rows)


def scale(folder):
    rows = read(folder, "scale.json")
    if not rows:
        return
    first = rows[0]
    lines = []
    for row in rows:
        nodes = row["nodes"]
        growth = (nodes * math.log(nodes)) / (first["nodes"] * math.log(first["nodes"]))
        outside = row["outside_oracle"]
        lines.append(
            [
                nodes,
                row["queries"],
                row["left"],
                f"{row['wall']:.3f}",
                f"{outside:.3f}",
                f"{1000 * outside / row['queries']:.2f}",
                f"{outside / first['outside_oracle']:.1f}",
                f"{growth:.1f}",
            ]
        )
    columns = ["nodes", "checks", "left", "wall s", "outside s", "ms outside/check", "grew by", "n log n grew by"]
    table("one planted failure in a residual graph; the check is structural", columns, lines)
    write_csv(folder / "scale.csv", [{key: value for key, value in row.items() if key != "passes"} for row in rows])


def main():
    folder = Path(sys.argv[1])
    minifiers(folder)
    cases(folder)
    scale(folder)


if __name__ == "__main__":
    main()

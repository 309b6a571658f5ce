"""The page in a browser, with much on it and hostile names; and the other forms of a report."""

import json
import os
import shutil
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Site
from repro_minify_triage import forms, junit

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=alert(1)>`|@all]]>\x1b[2J"
)
MODELS, BUGS = 500, 60
WORDS = ("new", "known", "regressed", "fixed", "flaky", "no answer")


def facts(folder: Path, models: int = MODELS) -> dict[str, Any]:
    bugs: list[dict[str, Any]] = []
    for number in range(1, BUGS + 1):
        state = WORDS[number % len(WORDS)]
        sightings = [
            {"model": f"m{number}{HOSTILE}", "digest": "d", "backend": "jit", "night": 2, "evidence": "reduced to it"}
        ]
        bugs.append({
            "id": number,
            "state": state, "thought": state, "standing": "open", "evidence": "seen", "outlook": "",
            "backend": ("jit", "freeze", HOSTILE)[number // 6 % 3], "key": "k", "first_night": 1,
            "parts": {"guilty": f"Step{number % 7}{HOSTILE * (number == 7)}", "kind": "accuracy", "canonical": ""},
            "nights": [{"night": n, "shown": state, "evidence": "seen"} for n in (1, 2)], "sightings": sightings,
            "models": 1, "program": f"def forward(self): {HOSTILE}", "message": HOSTILE, "verified": None,
            "duplicate_of": None, "not_a_bug": None, "notes": [HOSTILE], "repro": str(folder / "artefacts" / "x"),
            "files": ["repro.py", "report.md"], "perhaps_same": [{"id": 1, "why": HOSTILE}],
            "programs": [{"canonical": str(n), "source": f"one form {HOSTILE}", "models": [f"m{n}{HOSTILE}"],
                          "repro": str(folder / "artefacts" / "x"), "files": ["repro.py"]} for n in range(number % 4)],
        })  # fmt: skip
    build = {
        "tool": "0.1.0",
        "program": "p",
        "torch": "2.13.0",
        "python": f"py {HOSTILE}",
        "compiler": HOSTILE,
        "machine": HOSTILE,
    }
    nights = [{"id": n, "started": "2026-11-22T01:00", "ended": "2026-11-22T02:00", "build": build, "plan": {},
               "models": models, "checks": 4000, "check_seconds": 1.0, "bugs": {}} for n in (1, 2)]  # fmt: skip
    paths, backends = [f"models/{n}{HOSTILE}.pt" for n in range(models)], [f"b{n}" for n in range(8)]
    words = ("pass", "fail", "no answer", "flaky")
    tonight = [[words[(row + column) % 4] for column in range(8)] for row in range(models)]
    yesterday = [[("pass" if row == 3 else word) for word in cells] for row, cells in enumerate(tonight)]
    rows = [{"model": paths[0], "backend": "b0", "why": HOSTILE}]
    bugs[0]["sightings"].append({"model": paths[1], "digest": "e", "backend": "b0", "night": 2, "evidence": "reduced"})
    numbers = [[[1] if (row, column) == (1, 0) else [] for column in range(8)] for row in range(models)]
    return {
        "since": None, "failing": [{"model": paths[1], "backend": "b0", "message": HOSTILE}],
        "unreadable": [{"model": paths[2], "why": HOSTILE, "is_new": True}],
        "nights": nights, "bugs": bugs, "no_answer": rows, "not_reduced": rows, "left_out": rows,
        "flaky": [{"model": paths[1], "backend": "b1", "failed": 1, "runs": 3}],
        "matrix": {"models": paths, "backends": backends, "tonight": tonight, "yesterday": yesterday,
                   "seconds": [[1.5] * 8] * models, "bugs": numbers},
    }  # fmt: skip


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs Debian's chromium")
@pytest.mark.parametrize("width", [420, 1300])
def test_the_page_in_a_browser(tmp_path: Path, width: int) -> None:
    api = pytest.importorskip("playwright.sync_api")
    page_file = tmp_path / "report.html"
    forms.write(page_file, forms.as_html(facts(tmp_path), tmp_path))
    errors: list[str] = []
    requests: list[str] = []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        assert page.locator("#shown").inner_text() == f"{BUGS} of {BUGS} bugs"
        verdict = page.locator("td[data-backend=b0]", has_text="bug 1")
        box = verdict.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width, "a verdict is beside the page"
        links = verdict.locator("a")
        assert links.all_inner_texts() == ["bug 1", "repro.py"]
        assert [link.get_attribute("href") for link in links.all()] == ["#bug-1", "artefacts/x/repro.py"]
        assert page.locator("#bug-3 details", has_text="more reduced program").locator("pre").count() == 2
        page.select_option("select[data-filter=state]", "regressed")
        assert page.locator(".card:visible").count() == BUGS // len(WORDS)
        page.select_option("select[data-filter=backend]", HOSTILE)
        assert page.locator("#shown").inner_text() == f"3 of {BUGS} bugs"
        page.check("#only-changed")
        assert page.locator("tbody tr:visible").count() == 1
        assert page.title() == "Triage, night 2"
        assert page.locator("img").count() == 0 and page.locator("script").count() == 1
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        browser.close()
    assert requests == [page_file.as_uri()]
    assert errors == []
    assert wider <= 0, "the page scrolls sideways"


def test_other_forms_keep_hostile_names_text(tmp_path: Path) -> None:
    given = facts(tmp_path, models=40)
    assert json.loads(forms.as_json(given))["bugs"][0]["message"] == HOSTILE
    suites = ElementTree.fromstring(junit.as_junit(given))
    assert len(suites) == 8 and len(suites[0]) == 40
    text = forms.as_markdown(given)
    assert ", Python py " in text  # whose torch the backend may be
    given["bugs"][0]["nights"][1] = {"night": 2, "shown": "known", "evidence": "clean"}
    assert 'class="known clean" role="listitem" aria-label="night 2: known, passes"' in forms.as_html(given, tmp_path)
    assert "<script>" not in text.replace(f"def forward(self): {HOSTILE}", "") and "@all" not in text.split("```")[0]


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link, target, pipe = tmp_path / "link", tmp_path / "target", tmp_path / "pipe"
    target.write_text("of yesterday, and longer")
    link.symlink_to(target)
    forms.write(link, "a summary")
    assert link.is_symlink() and target.read_text() == "a summary"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as threads:
        read = threads.submit(pipe.read_text)
        forms.write(pipe, "a summary")
        assert read.result() == "a summary" and pipe.is_fifo()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "pipe", "target"]


def test_a_report_through_the_command_line(site: Site) -> None:
    site.add_model("one", freeze="A")
    site.night(code=1)
    names = {form: str(site.folder / f"r.{form}") for form in ("html", "json", "junit", "markdown")}
    words = [word for form, name in names.items() for word in (f"--{form}", name)]
    site.call("report", "--store", str(site.store), *words, code=1)
    assert "aten::A" in site.call("show", "1", "--store", str(site.store), code=0).stdout
    assert "1 new" in Path(names["markdown"]).read_text()
    assert "Bug 1 · new" in Path(names["html"]).read_text()
    site.night(code=0)
    assert site.call("list", "--store", str(site.store), "--state", "new", code=0).stdout == ""
    assert site.call("report", "--store", str(site.store), code=0).stdout.endswith("report.html\n")

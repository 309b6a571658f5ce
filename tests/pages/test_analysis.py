"""analysis.html in a browser: cause and carrier in colour and in words."""

import json
from pathlib import Path

import pytest
from opened import CASES, Browser, has_program, run

pytestmark = pytest.mark.skipif(not has_program(), reason="needs the program: build it, or set REPRO_MINIFY_PROGRAM")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysis") / "a"
    model = CASES / "big_freeze_linear_bn_3d" / "failing.pt"
    done = run("analyze", str(model), "--backend", "freeze", "-o", str(folder), code=1)
    assert "DIFFERS (cause)" in done.stdout and "DIFFERS (carrier)" in done.stdout
    assert done.stdout.rstrip().endswith("analysis.html")
    return folder


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1300, "light")])
def test_cause_and_carriers(analysis: Path, browser: Browser, width: int, scheme: str) -> None:
    rows = json.loads((analysis / "analysis.json").read_text())["values"]
    causes = [row for row in rows if row["part"] == "cause"]
    carriers = [row for row in rows if row["part"] == "carrier"]
    opened = browser.open(analysis / "analysis.html", width, color_scheme=scheme)
    page = opened.page
    assert [row["operator"] for row in causes] == ["aten::batch_norm"]
    assert page.locator("svg a.box.cause").count() == len(causes)
    assert page.locator("svg a.box.carrier").count() == len(carriers) > 50
    cause = page.locator("svg a.box.cause")
    assert "cause" in cause.text_content()
    assert "carrier" in page.locator("svg a.box.carrier").first.text_content()
    filled = page.evaluate("getComputedStyle(document.querySelector('a.cause rect')).fill")
    carried = page.evaluate("getComputedStyle(document.querySelector('a.carrier rect')).fill")
    assert filled != carried
    cause.click()
    shown = page.locator("#panel").inner_text()
    assert "aten::batch_norm" in shown and "RMSE" in shown and "expected" in shown
    opened.check()


def test_a_curve_shows_where_the_error_begins(analysis: Path, browser: Browser) -> None:
    page = browser.open(analysis / "analysis.html", java_script_enabled=False).page
    curves = page.locator("#errors path.step")
    assert curves.count() == 2
    assert curves.nth(0).get_attribute("d") != curves.nth(1).get_attribute("d")
    values = json.loads((analysis / "analysis.json").read_text())["values"]
    measured = [value for value in values if value["optimised_error"] is not None]
    assert page.locator("#errors circle").count() == 2 * len(measured)


def test_each_value_reads_as_a_list_too(analysis: Path, browser: Browser) -> None:
    page = browser.open(analysis / "analysis.html", java_script_enabled=False).page
    page.locator(".entries summary").click()
    rows = json.loads((analysis / "analysis.json").read_text())["values"]
    assert page.locator(".entry:not(.input)").count() == len(rows)
    assert page.locator(".entry.cause").is_visible()

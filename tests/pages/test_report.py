"""report.html in a browser, made by the real program."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from opened import CASES, PROGRAM, Browser, has_program, report_of, run

pytestmark = pytest.mark.skipif(not has_program(), reason="needs the program: build it, or set REPRO_MINIFY_PROGRAM")


def key_of(piece: object) -> str:
    """Returns the key of a locator's element."""
    return str(piece.get_attribute("data-key"))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1300, "light")])
def test_it_is_readable(transformer: Path, browser: Browser, width: int, scheme: str) -> None:
    opened = browser.open(transformer / "report.html", width, color_scheme=scheme)
    page = opened.page
    assert page.locator("h1").inner_text().startswith("torch::jit::freeze: ")
    assert page.locator(".story dt").all_inner_texts()[:2] == ["expected", "found"]
    assert "torch.batch_norm(torch.linear(" in page.locator("#program pre.code").inner_text()
    assert page.locator("#program svg.graph a.box").count() >= 4  # two operators, and what they read
    assert page.locator("#values table.numbers tbody tr").count() > 0
    assert "cause: first wrong value" in page.locator("#original svg a.box.first").text_content()
    assert "aten::batch_norm" in page.locator("#original svg a.box.cause.first").text_content()
    assert page.locator("#original svg a.box.cause").count() == 1, "the linear layer before it is right"
    assert page.locator("#original svg a.box.kept").count() == 2
    assert page.locator("#original svg a.box.carrier").count() > 10
    assert page.locator("#search svg.course path.step").count() > 3
    assert page.locator("#passing .failing").count() > 0 and page.locator("#passing .passing").count() > 0
    opened.check()


@pytest.mark.parametrize("width", [420, 1400])
def test_code_wraps_and_elements_have_indices(transformer: Path, browser: Browser, width: int) -> None:
    page = browser.open(transformer / "report.html", width).page
    for code in page.locator("pre").all():
        assert code.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    elements = page.locator("#values table.numbers tbody th").all_inner_texts()
    assert elements[:2] == ["[0, 0, 0]", "[0, 0, 1]"]
    boxes = page.locator("#original svg a.box").all_text_contents()
    assert any(".py:" in box for box in boxes), "the line of the source, where there is one"


def test_numbers_are_those_of_the_report(transformer: Path, browser: Browser) -> None:
    report = report_of(transformer)
    page = browser.open(transformer / "report.html").page
    glance = page.locator(".glance").inner_text()
    assert f"{report['before']['operators']} → {report['after']['operators']}" in glance
    assert f"{report['checks']}\nchecks" in glance
    rows = page.locator("#search tbody tr").all_inner_texts()
    cut = next(row for row in report["passes"] if row["pass"] == "cut")
    assert any(text.split()[:5] == ["cut", *(str(cut[k]) for k in ("turns", "tried", "worked", "operators_removed"))]
               for text in rows)  # fmt: skip


def test_a_click_lights_up_code_and_both_graphs(transformer: Path, browser: Browser) -> None:
    opened = browser.open(transformer / "report.html")
    page = opened.page
    cause = page.locator("#program svg a.box.cause").first
    key = key_of(cause)
    assert page.locator(".lit").count() == 0 and not page.locator("#panel").is_visible()
    cause.click()
    for place in ("#program pre.code", "#program svg", "#original svg"):
        lit = page.locator(f"{place} .lit")
        assert lit.count() >= 1, place
        assert {key_of(lit.nth(i)) for i in range(lit.count())} == {key}
    assert "torch.batch_norm(" in page.locator("#program pre.code .lit").first.inner_text()
    shown = page.locator("#panel").inner_text()
    for part in ("aten::batch_norm", "cause", "RMSE", "float32", "functional.py:27"):
        assert part in shown, part
    page.locator("#program pre.code a.piece", has_text="torch.linear(").last.click()  # another node
    assert "aten::linear" in page.locator("#panel").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".lit").count() == 0 and not page.locator("#panel").is_visible()
    opened.check()


def test_by_keyboard(transformer: Path, browser: Browser) -> None:
    page = browser.open(transformer / "report.html").page
    page.locator("#program svg a.box.cause").focus()
    page.keyboard.press("Enter")
    assert page.locator("#panel").is_visible()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.classList.contains('cause')"), "the focus is where it was"


def test_without_scripts(transformer: Path, browser: Browser) -> None:
    page = browser.open(transformer / "report.html", java_script_enabled=False).page
    page.locator("#program svg a.box.cause").click()
    page.wait_for_url("**#r*")
    entry = page.locator(".entry:target")
    assert entry.is_visible() and "aten::batch_norm" in entry.inner_text()


def test_hostile_text_stays_text(models: Path, browser: Browser, tmp_path: Path) -> None:
    model = tmp_path / "<img src=x onerror=alert(1)>\"'\u202e.pt"
    shutil.copy(models / "hostile" / "failing.pt", model)
    folder = tmp_path / "repro"
    words = ["--backend", "freeze", "--no-verify", "-q"]
    run(str(model), "--inputs", str(models / "hostile" / "inputs.pt"), *words, "-o", str(folder), code=0)
    opened = browser.open(folder / "report.html")
    page = opened.page
    page.locator("#original svg a.box", has_text="aten::linear").click()  # its line is the author's
    assert "</script><script>document.title='owned'</script>" in page.locator("#panel").inner_text()
    assert page.title().startswith("torch::jit::freeze: ")
    assert page.locator("img").count() == 0 and page.locator("script").count() == 1
    assert "\u202e" not in page.content(), "a mark that turns the direction of writing is shown by its number"
    assert "<img src=x onerror=alert(1)>" in page.locator("header").inner_text()
    opened.check()


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_a_large_model(models: Path, browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "repro"
    run(str(models / "large" / "failing.pt"), "--backend", "freeze", "--no-verify", "-q", "-o", str(folder), code=0)
    assert report_of(folder)["before"]["nodes"] > 800
    assert (folder / "report.html").stat().st_size < 2_000_000
    opened = browser.open(folder / "report.html")
    assert opened.page.locator("#original svg a.box").count() > 600
    assert opened.page.locator("#original svg a.box.first").is_visible(), "it opens where it goes wrong"
    opened.check()


def test_without_graphviz_it_says_so(browser: Browser, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "cc", "c++", "cmake", "python3"):
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    folder = tmp_path / "repro"
    words = [str(CASES / "freeze_linear_bn_3d" / "failing.pt"), "--backend", "freeze", "--no-verify", "-q"]
    run(*words, "-o", str(folder), code=0, environment={"PATH": str(programs)})
    opened = browser.open(folder / "report.html")
    missing = opened.page.locator("#original .missing").inner_text()
    assert "dot` is not installed" in missing and "graphviz" in missing
    assert opened.page.locator("svg.graph").count() == 0
    assert "torch.batch_norm" in opened.page.locator("pre.code").inner_text()
    opened.check()


@pytest.mark.parametrize(
    ("case", "backend", "options", "shown"),
    [
        ("grad_82635_min_tie", "jit", ["--grad"], "gradient of"),
        ("nnc_hardshrink_nan", "nnc", [], "output"),
        ("jit_peephole_bool_mul1", "jit", [], "output"),
    ],
)
def test_other_failures(
    browser: Browser, tmp_path: Path, case: str, backend: str, options: list[str], shown: str
) -> None:
    folder = tmp_path / "repro"
    model = CASES / case / "failing.pt"
    run(str(model), "--backend", backend, *options, "--no-verify", "-q", "-o", str(folder), code=0)
    opened = browser.open(folder / "report.html")
    assert shown in opened.page.locator("#values").inner_text()
    assert opened.page.locator("#original svg a.box.first").count() == 1
    opened.check()


def test_of_an_exception_no_value_is_wrong(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "repro"
    model = CASES / "static_int_div_exc" / "failing.pt"
    run(str(model), "--backend", "static-runtime", "--no-verify", "-q", "-o", str(folder), code=0)
    opened = browser.open(folder / "report.html")
    page = opened.page
    legend = page.locator("#original .legend").inner_text()
    assert "There are no values to show" in page.locator("#values").inner_text()
    assert page.locator("#original svg a.box.first").count() == 1
    assert "fails here" in page.locator("#original svg a.box.first").text_content()
    assert "fails here" in legend and "carrier" not in legend and "agrees" not in legend
    assert "wrong value" not in page.content()
    opened.check()


@pytest.mark.skipif("'REPRO_MINIFY_ALL_TESTS' not in os.environ", reason="scripts/test.sh --all runs it")
def test_of_a_hang_of_which_nothing_is_kept_there_is_no_picture(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "repro"
    model = CASES / "nnc_round_half" / "failing.pt"
    words = ["--backend", "command:sh -c 'sleep 100' sh", "--timeout", "1", "--no-verify", "-q"]
    run(str(model), *words, "-o", str(folder), code=0)
    page = browser.open(folder / "report.html").page
    assert page.locator("svg.graph").count() == 0 and page.locator("#original .legend").count() == 0
    assert "no value was compared" in page.locator("#original .missing").inner_text()


def test_what_was_not_verified_says_so(transformer: Path, browser: Browser) -> None:
    warning = browser.open(transformer / "report.html").page.locator("p.warning").inner_text()
    assert "not verified" in warning and "--no-verify" in warning


def test_an_interrupted_run_says_so(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "repro"
    model = CASES / "big_freeze_linear_bn_3d" / "failing.pt"
    words = [str(PROGRAM), str(model), "--backend", "freeze", "-o", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        for line in job.stderr:
            if "best so far" in line:  # the search has begun
                job.send_signal(signal.SIGINT)
                break
        job.stderr.read()
        assert job.wait(timeout=120) == 130
    opened = browser.open(folder / "report.html")
    assert "interrupted" in opened.page.locator("p.warning").first.inner_text()
    opened.check()

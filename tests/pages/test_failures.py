"""index.html of --all in a browser: each failure with its program, and links to what each folder holds."""

from pathlib import Path

import pytest
from opened import ROOT, Browser, has_program, run

pytestmark = pytest.mark.skipif(not has_program(), reason="needs the program: build it, or set REPRO_MINIFY_PROGRAM")


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("failures") / "series"
    model = ROOT / "fixtures" / "two_failures" / "pass_view_then_diagonal" / "failing.pt"
    run(str(model), "--backend", "pass:remove-inplace-ops", "--all", "-q", "--no-verify", "-o", str(folder), code=0)
    return folder


@pytest.mark.parametrize(("width", "scheme"), [(420, "dark"), (1400, "light")])
def test_each_failure_is_there_with_its_files(series: Path, browser: Browser, width: int, scheme: str) -> None:
    opened = browser.open(series / "index.html", width, color_scheme=scheme)
    page = opened.page
    assert page.locator("h1").inner_text() == "2 failures of failing.pt"
    assert "the model passes" in page.locator("header").inner_text()
    assert page.locator("main section").count() == 2
    codes = page.locator("pre").all_inner_texts()
    assert "diagonal" not in codes[0] and "diagonal" in codes[1]
    assert page.locator("dd", has_text="1 place of the model").count() == 2
    links = [link.get_attribute("href") for link in page.locator("dd a").all()]
    assert "2/report.html" in links and all((series / str(link)).is_file() for link in links)
    opened.check()

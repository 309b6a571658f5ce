"""On three simulated nodes the report is that of one machine, though a node is killed and then the driver."""

import contextlib
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Site
from test_store import lasting

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed")

MODELS = 60
GIB = 2**30
LOOPBACK = "127.0.0.2"  # Ray takes 127.0.0.1 for a word, and puts the address of the machine in its place


@pytest.fixture
def cluster(site: Site, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("FAKE_WORLD", site.environment()["FAKE_WORLD"])  # for the nodes
    made = cluster_utils.Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "memory": 4 * GIB, "node_ip_address": LOOPBACK, "include_dashboard": False},
    )
    made.workers = [made.add_node(num_cpus=2, memory=4 * GIB, node_ip_address=LOOPBACK) for _ in range(2)]
    yield made
    made.shutdown()


def answered(site: Site) -> int:
    import sqlite3

    file = site.store / "triage.sqlite"
    if not file.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(file)) as db:
            return int(db.execute("SELECT count(*) FROM observation").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def await_answers(site: Site, number: int) -> None:
    for _ in range(3000):
        if answered(site) >= number:
            return
        time.sleep(0.1)
    pytest.fail(f"{answered(site)} answers only")


def start(site: Site, address: str) -> "subprocess.Popen[str]":
    words = [*site.night_words(), "--on", address]
    return subprocess.Popen(site.command(*words), env=site.environment(), stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)  # fmt: skip


def test_a_lost_node_and_a_lost_driver_lose_no_answer(site: Site, cluster: Any, tmp_path: Path) -> None:
    site.backends = "freeze"
    for index in range(MODELS):
        site.add_model(f"m{index}", **({"freeze": "ABC"[index % 3]} if index % 10 == 0 else {}))
    alone = Site(tmp_path / "alone", backends="freeze")
    alone.folder.mkdir()
    (alone.folder / "models").symlink_to(site.models)
    alone.world()
    expected = lasting(alone.night(code=1))

    site.world(seconds=0.5)
    driver = start(site, cluster.address)
    await_answers(site, 15)
    cluster.remove_node(cluster.workers[0], allow_graceful=False)
    await_answers(site, 30)
    driver.kill()
    driver.communicate()
    driver = start(site, cluster.address)
    _, error = driver.communicate(timeout=300)
    assert driver.returncode == 1, error
    report = site.report()
    assert lasting(report) == expected
    assert report["no_answer"] == []

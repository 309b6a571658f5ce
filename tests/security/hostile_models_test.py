#!/usr/bin/env python3
"""Tests of attacks of models on their users: by hand, one attack each, against the whole program.

hostile_models_test.py REPRO_MINIFY FIXTURES
"""

import contextlib
import fcntl
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

from archives import Archive

PROGRAM, FIXTURES = "", Path()
# Each of these takes seconds, most for a Python that imports torch, and shows what another does too.
also_where_all_is_asked_for = unittest.skipUnless(
    "REPRO_MINIFY_ALL_TESTS" in os.environ, "scripts/test.sh --all runs it"
)


class Attack(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.place = Path(self.scratch.name)
        self.victim = self.place / "victim"
        self.victim.write_bytes(b"precious" * 8)
        self.temporary = self.place / "tmp"
        self.temporary.mkdir()
        self.model = self.place / "model" / "failing.pt"
        self.model.parent.mkdir()
        self.inputs = FIXTURES / "cases" / "jit_type_as_dce" / "inputs.pt"
        self.archive = Archive.read(FIXTURES / "cases" / "jit_type_as_dce" / "failing.pt")

    def code(self, changed) -> None:
        at = self.archive.positions("__torch__.py")[0]
        self.archive.change(at, changed(self.archive.records[at][1].decode()).encode())

    def in_forward(self, line: str) -> None:
        self.code(lambda text: text.replace("    h = torch.mul(x, 2.)\n", f"    h = torch.mul(x, 2.)\n    {line}\n"))

    def in_setstate(self, line: str) -> None:
        functions = (
            "  def __getstate__(self: __torch__.Cast) -> int:\n    return 1\n"
            f"  def __setstate__(self: __torch__.Cast,\n    state: int) -> NoneType:\n    {line}\n"
            "    self.training = False\n    return None\n"
        )
        forward = "  def forward(self: __torch__.Cast"
        self.code(lambda text: text.replace(forward, functions + forward))
        at = self.archive.positions("data.pkl")[0]
        data = self.archive.records[at][1]
        self.archive.change(at, data.replace(b")\x81}(h\x01\x89h\x02Nubq\x05", b")\x81K\x01bq\x05"))

    def run_program(self, *words: str, **options) -> subprocess.CompletedProcess:
        self.archive.write(self.model, random.Random(0))
        environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "REPRO_MINIFY_PRECOMPILED_HEADERS": "off",
        }
        command = [PROGRAM, *words, "--inputs", str(self.inputs), "--backend", "jit"]
        done = subprocess.run(command, capture_output="stdout" not in options, env=environment, timeout=300, **options)
        self.assertEqual(self.victim.read_bytes(), b"precious" * 8)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return done

    def refused(self, *about: str, words: tuple[str, ...] = ()) -> str:
        done = self.run_program("run", str(self.model), *words)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 2, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        for words_of_it in about:
            self.assertIn(words_of_it, said)
        return said


class Files(Attack):
    def test_saving_is_refused_by_name(self) -> None:
        self.in_forward(f'torch.save(h, "{self.victim}")')
        self.refused("aten::save")

    def test_mapping_is_refused_by_name(self) -> None:
        self.in_forward(f'_9 = torch.fill_(torch.from_file("{self.victim}", True, 4), 0)')
        self.refused("aten::from_file")

    @also_where_all_is_asked_for
    def test_saving_while_it_is_loaded_is_refused_before_it_happens(self) -> None:
        self.in_setstate(f'torch.save(torch.ones([2]), "{self.victim}")')
        self.refused("aten::save")

    @also_where_all_is_asked_for
    def test_under_another_name(self) -> None:
        self.in_forward(f'_9 = ops.aten.from_file("{self.victim}", True, 4)')
        self.refused("from_file")


class Loading(Attack):
    def test_code_that_runs_there_may_run(self) -> None:
        self.in_setstate("_9 = torch.ones([2])")
        done = self.run_program("run", str(self.model))
        self.assertEqual(done.returncode, 1, done.stderr.decode())

    def test_that_never_ends(self) -> None:
        self.in_setstate("while True:\n      pass")
        self.refused("takes more than", words=("--timeout", "3"))

    def test_that_takes_all_memory(self) -> None:
        self.in_setstate("print(torch.sum(torch.ones([1000000, 1000, 100])))")
        self.refused(words=("--memory-limit", "1GiB"))

    def test_a_sum_of_ten_thousand_terms(self) -> None:
        self.in_forward("_9 = " + "+".join(["1"] * 50000))
        self.refused("signal 11")

    @also_where_all_is_asked_for
    def test_nested_lists(self) -> None:
        self.in_forward("_9 = " + "[" * 20000 + "1" + "]" * 20000)
        self.refused("signal 11")

    @also_where_all_is_asked_for
    def test_nested_calls(self) -> None:
        self.in_forward("_9 = " + "int(" * 20000 + "1" + ")" * 20000)
        self.refused("signal 11")

    def test_nested_tuples_in_a_pickle(self) -> None:
        at = self.archive.positions("constants.pkl")[0]
        self.archive.change(at, b"\x80\x02)" + b"\x85" * 16000 + b".")
        self.refused("nested")

    def test_nested_tuples_in_inputs(self) -> None:
        self.inputs = self.place / "inputs.pt"
        self.inputs.write_bytes(b"\x80\x02)" + b"\x85" * 100000 + b".")
        self.refused("inputs.pt")


class SecondLoading(Attack):
    """The process that reduces loads a model after a child has: what it is then must not be the model's to choose."""

    def try_it(self, line: str, *words: str, sign: str) -> None:
        """Tries what happens by chance until one run shows the sign of it, and at least a few times."""
        self.in_setstate(line)
        seen = False
        for time in range(20):
            if seen and time >= (4 if "REPRO_MINIFY_ALL_TESTS" in os.environ else 2):
                break
            done = self.run_program("run", str(self.model), *words)
            self.assertIn(done.returncode, (1, 2, 3), done.stderr.decode())
            seen = seen or sign in (done.stdout + done.stderr).decode()
        self.assertTrue(seen, sign)

    @also_where_all_is_asked_for
    def test_that_ends_every_other_time(self) -> None:
        self.try_it(
            "_9 = ops.prim.TimePoint() // 1000 % 2\n    while _9 == 0:\n      pass",
            "--timeout",
            "5",
            sign="takes more than 5 s",
        )

    def test_that_takes_memory_every_other_time(self) -> None:
        taken = "torch.ones([ops.prim.TimePoint() // 1000 % 2 * 4000000000])"
        self.try_it(f"print(torch.sum({taken}))", "--memory-limit", "1GiB", sign="memory")


class Storages(Attack):
    def setUp(self) -> None:
        super().setUp()
        model = FIXTURES / "small_models" / "conv_net"
        self.archive = Archive.read(model / "model.pt")
        self.inputs = model / "inputs.pt"

    @also_where_all_is_asked_for
    def test_that_are_shorter_than_they_say(self) -> None:
        at = next(at for at, (name, data) in enumerate(self.archive.records) if "/data/" in name and len(data) > 16)
        self.archive.change(at, self.archive.records[at][1][:16])
        self.refused("16")


class Printing(Attack):
    def test_before_the_json(self) -> None:
        self.in_setstate('print("hello")')
        done = self.run_program("run", str(self.model), "--json")
        self.assertEqual(json.loads(done.stdout)["verdict"]["outcome"], "fail")

    def test_what_commands_a_terminal(self) -> None:
        # TorchScript takes these numbers in octal, and refuses them in hexadecimal.
        self.in_forward('ops.prim.RaiseException("\\033]0;owned\\007", None)')
        done = self.run_program("run", str(self.model))
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(b"\\x1b]0;owned", done.stderr)
        self.assertNotIn(b"\x1b", done.stderr + done.stdout)

    def test_into_nothing_is_an_error(self) -> None:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = self.run_program("run", str(self.model), stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 70)
        self.assertIn(b"standard output", done.stderr)


class Converted(Attack):
    """Attacks by files that are no TorchScript, and are refused."""

    def run_program_of_python(self, body: str, *words: str) -> str:
        program = self.place / "repro.py"
        program.write_text(f"# run_repro load_args\nimport json, os, sys, torch\nfolder = sys.argv[3]\n{body}\n")
        return self.convert(program, *words)

    def convert(self, model: Path, *words: str, timeout: str = "120") -> str:
        """Runs the program on a model that it has to refuse, and returns its message."""
        environment = {**os.environ, "TMPDIR": str(self.temporary), "XDG_CACHE_HOME": str(self.place / "cache")}
        command = [PROGRAM, "run", str(model), "--backend", "jit", "--timeout", timeout, *words]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
        self.assertEqual(self.victim.read_bytes(), b"precious" * 8)
        self.assertEqual(list(self.temporary.iterdir()), [])
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 2, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        return said


class Doors(Converted):
    """Programs that torch.compile left behind, or seems to have left: they are run to be converted."""

    @also_where_all_is_asked_for
    def test_an_answer_that_is_a_pipe(self) -> None:
        body = "os.mkfifo(os.path.join(folder, 'answer.json'))\nos._exit(0)"
        self.assertIn("something else than files", self.run_program_of_python(body))

    def test_a_model_that_is_a_link(self) -> None:
        private = FIXTURES / "cases" / "jit_type_as_dce"
        body = (
            f"os.symlink({str(private / 'failing.pt')!r}, os.path.join(folder, 'converted-1.pt'))\n"
            f"os.symlink({str(private / 'inputs.pt')!r}, os.path.join(folder, 'converted-1_inputs.pt'))\n"
            "json.dump({'graphs': [{'name': 'x'}]}, open(os.path.join(folder, 'answer.json'), 'w'))\nos._exit(0)"
        )
        self.assertIn("something else than files", self.run_program_of_python(body))

    @also_where_all_is_asked_for
    def test_an_answer_without_end(self) -> None:
        body = (
            "os.truncate(os.open(os.path.join(folder, 'answer.json'), os.O_CREAT | os.O_WRONLY), 1 << 40)\nos._exit(0)"
        )
        self.assertIn("64 MiB", self.run_program_of_python(body))

    @also_where_all_is_asked_for
    def test_an_answer_of_another_form(self) -> None:
        entries = {"graphs": [{"inductor_config": ["load-library=x.so"]}]}
        answers: list[object] = [{"graphs": [[]]}, {"problem": ["x"]}, {"problem": "a\nerror: b"}, entries]
        for answer in answers:
            body = f"json.dump({answer!r}, open(os.path.join(folder, 'answer.json'), 'w'))\nos._exit(0)"
            self.run_program_of_python(body)

    @also_where_all_is_asked_for
    def test_that_asks_for_its_users_keys(self) -> None:
        with unittest.mock.patch.dict(os.environ, {"SOMEBODYS_TOKEN": "hunter2"}):
            said = self.run_program_of_python("raise SystemExit(str(dict(os.environ)))")
        self.assertIn("PATH", said)
        self.assertNotIn("hunter2", said)

    @also_where_all_is_asked_for
    def test_that_writes_elsewhere(self) -> None:
        self.run_program_of_python(f"open({str(self.victim)!r}, 'w').write('gone')")

    @also_where_all_is_asked_for
    def test_that_starts_what_stays(self) -> None:
        self.run_program_of_python("if os.fork() == 0:\n  os.setsid()\n  import time\n  time.sleep(600)\nos._exit(0)")

    def test_that_starts_others_without_end(self) -> None:
        body = "for _ in range(3000):\n  os.posix_spawn('/bin/sleep', ['sleep', '604.5'], os.environ, setsid=True)"
        self.assertIn("has more than 64 processes", self.run_program_of_python(body))
        sleeping = subprocess.run(["pgrep", "-cfx", "sleep 604.5"], capture_output=True).stdout
        self.assertEqual(int(sleeping), 0)

    @also_where_all_is_asked_for
    def test_that_fills_the_disk(self) -> None:
        body = "for i in range(1000):\n  open(os.path.join(folder, str(i)), 'wb').write(bytes(16 << 20))"
        said = self.run_program_of_python(body, "--memory-limit", "1GiB")
        self.assertIn("writes more than 1024 MiB", said)

    @also_where_all_is_asked_for
    def test_that_fills_its_temporary_folder(self) -> None:
        body = (
            "import tempfile\n"
            "for i in range(1000):\n  open(os.path.join(tempfile.gettempdir(), str(i)), 'wb').write(bytes(16 << 20))"
        )
        said = self.run_program_of_python(body, "--memory-limit", "1GiB")
        self.assertIn("writes more than 1024 MiB", said)

    @also_where_all_is_asked_for
    def test_that_lifts_its_limit_of_memory(self) -> None:
        body = (
            "import resource\n"
            "_, hard = resource.getrlimit(resource.RLIMIT_DATA)\n"
            "resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))\n"
            "held = bytearray(2 << 30)\n"
            "raise SystemExit('lif' + 'ted')"
        )
        self.assertNotIn("lifted", self.run_program_of_python(body, "--memory-limit", "1GiB"))

    @also_where_all_is_asked_for
    def test_whose_data_lies_behind_a_link(self) -> None:
        """A folder `storages` is opened to the program: one that leads elsewhere is not."""
        private = self.place / "private"
        private.mkdir()
        (private / "key").write_text("hunter2")
        for named in (self.place / "storages", self.place / "named" / "storages"):
            named.parent.mkdir(exist_ok=True)
            named.symlink_to(private)
            body = f"save_dir={str(named.parent)!r}\nraise SystemExit(open({str(named / 'key')!r}).read())"
            said = self.run_program_of_python(body)
            self.assertIn("Permission denied", said)

    @also_where_all_is_asked_for
    def test_that_is_nested_too_deep(self) -> None:
        said = self.run_program_of_python("x = " + "-" * 300000 + "1")
        self.assertIn("too deep", said)


class Exported(Converted):
    """A .pt2 is a zip archive with pickles in it."""

    def exported(self, changed: dict[str, bytes], added: dict[str, bytes]) -> str:
        path = self.place / "model.pt2"
        with (
            zipfile.ZipFile(FIXTURES / "doors" / "exported" / "linear.pt2") as given,
            zipfile.ZipFile(path, "w") as made,
        ):
            for name in given.namelist():
                made.writestr(name, next((data for part, data in changed.items() if part in name), given.read(name)))
            for name, data in added.items():
                made.writestr(name, data)
        return self.convert(path)

    def test_a_pickle_that_calls(self) -> None:
        """torch.export.load does what it says, where it can do nothing."""
        started = self.place / "started"
        calls = b"cos\nsystem\n(V" + f"echo gone > {self.victim}; echo gone > {started}".encode() + b"\ntR."
        saved = io.BytesIO()
        with zipfile.ZipFile(saved, "w") as archive:
            archive.writestr("archive/data.pkl", calls)
            archive.writestr("archive/version", "3")
        for data in (calls, saved.getvalue()):
            self.exported({"sample_inputs": data}, {})
            self.assertFalse(started.exists())

    @also_where_all_is_asked_for
    def test_a_model_that_is_nested_without_end(self) -> None:
        self.exported({"models/model.json": b"[" * 200000 + b"]" * 200000}, {})


class BesideTheModel(Attack):
    """A reduced.pt has its inputs inside: what else lies there under their name is not theirs."""

    def setUp(self) -> None:
        super().setUp()
        self.archive.records.append(("failing/extra/inputs.pt", self.inputs.read_bytes()))

    def run_beside(self) -> None:
        self.archive.write(self.model, random.Random(0))
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        command = [PROGRAM, "run", str(self.model), "--backend", "jit"]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertIn(b"not read", done.stderr)

    def test_a_pipe(self) -> None:
        os.mkfifo(self.model.with_name("inputs.pt"))
        self.run_beside()

    def test_a_terabyte(self) -> None:
        self.model.with_name("inputs.pt").touch()
        os.truncate(self.model.with_name("inputs.pt"), 1 << 40)
        self.run_beside()

    def test_that_are_far_larger_than_their_record(self) -> None:
        self.archive.records.pop()
        self.archive.write(self.model, random.Random(0))
        with zipfile.ZipFile(self.model, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("failing/extra/inputs.pt", bytes(600 << 20))
        command = [PROGRAM, "run", str(self.model), "--backend", "jit", "--memory-limit", "256MiB"]
        done = subprocess.run(command, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(b"takes more than 256 MiB", done.stderr)


class Logs(Converted):
    """TORCH_TRACE's, and the folder that tlparse makes of one."""

    def log(self, name: str, text: str) -> str:
        record = {"artifact": {"name": "fx_graph_runnable"}, "frame_id": name, "frame_compile_id": 0}
        path = self.place / "trace.log"
        path.write_text(f"V1123 01:03:48.174000 7858 torch/a.py:1] {json.dumps(record)}\n\t{text}\n")
        return self.convert(path)

    @also_where_all_is_asked_for
    def test_a_name_that_commands_a_terminal(self) -> None:
        self.assertNotIn("\x1b", self.log("\x1b]0;owned\x07\nerror: b", "raise SystemExit('\\x1b[2J')"))

    @also_where_all_is_asked_for
    def test_a_folder_with_a_pipe(self) -> None:
        folder = self.place / "traced"
        folder.mkdir()
        os.mkfifo(folder / "raw.log")
        self.convert(folder, timeout="20")

    @also_where_all_is_asked_for
    def test_a_folder_whose_log_lies_elsewhere(self) -> None:
        private = self.place / "key"
        private.write_text("hunter2")
        for name in ("raw.log", "fx_graph_runnable_1.txt"):
            folder = self.place / name.partition(".")[0]
            folder.mkdir()
            (folder / name).symlink_to(private)
            self.assertIn("Permission denied", self.convert(folder))


class Config(Attack):
    """It is trusted, but may be broken."""

    def refused_config(self, path: Path) -> str:
        command = [PROGRAM, "run", str(self.model), "--config", str(path)]
        done = subprocess.run(command, capture_output=True, timeout=60)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 2, said)
        self.assertEqual(len(said.splitlines()), 1, said[:1000])
        self.assertLess(len(said), 1000)
        self.assertNotIn("\x1b", said)
        return said

    def test_of_every_wrong_form(self) -> None:
        path = self.place / "config.toml"
        texts = [
            b"backend = {a = 1}",
            b"[a.b.c]\nx = 1",
            b"seed = " + b"[" * 100000 + b"]" * 100000,
            b"a = " + b"{a = " * 100000,
            b'"\\u001b[31m\\nerror: x" = 1',
            b'timeout = "1\\n2\\u001b[31m"',
            b'timeout = "' + b"9" * 500000 + b'"',
            b"a" * 500000 + b" = 1",
            b'backend = "\xff\xfe"',
            b"timeout = nan",
            b"seed = 1\nseed = 2",
            b'output = ""',
            bytes(2 << 20),
        ]
        for text in texts:
            with self.subTest(text=text[:40]):
                path.write_bytes(text)
                self.refused_config(path)

    def test_that_is_no_file(self) -> None:
        path = self.place / "config.toml"
        os.mkfifo(path)
        self.assertIn("is no file", self.refused_config(path))
        self.assertIn("is no file", self.refused_config(self.place))
        self.assertIn("is no file", self.refused_config(Path("/dev/zero")))
        path.unlink()
        path.symlink_to(path)
        self.refused_config(path)

    def test_a_path_that_is_empty(self) -> None:
        for option in ("--output", "--inputs", "--config", "--python", "--load-library", "--oracle"):
            done = subprocess.run([PROGRAM, "model.pt", option, ""], capture_output=True, timeout=60)
            said = done.stderr.decode()
            self.assertEqual(done.returncode, 2, said)
            self.assertIn(f"{option}: '' names no file", said)


class OutputFolder(Attack):
    def test_what_lay_there_is_not_run(self) -> None:
        folder = self.place / "out"
        folder.mkdir()
        (folder / "repro.py").write_text(f"open({str(self.victim)!r}, 'w')  # of somebody else")
        (folder / "candidates").mkdir()
        (folder / "candidates" / "mine").write_text("mine")
        for name in ("reduced.pt", "journal.jsonl"):
            (folder / name).symlink_to(self.victim)
        done = self.run_program(str(self.model), "-o", str(folder), "--force", "--no-verify", "--no-bisect")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertNotIn("repro.py", json.loads((folder / "report.json").read_text())["files"])
        self.assertNotIn("of somebody else", (folder / "issue.md").read_text())
        self.assertTrue((folder / "candidates" / "mine").exists())
        self.assertFalse((folder / "reduced.pt").is_symlink() or (folder / "journal.jsonl").is_symlink())

    def begun(self, *words: str) -> tuple[Path, subprocess.CompletedProcess]:
        """Runs a reduction into the folder `out`, which an earlier run or another user may have left."""
        folder = self.place / "out"
        done = self.run_program(str(self.model), "-o", str(folder), "--no-verify", "--no-bisect", *words)
        return folder, done

    def test_a_journal_that_is_no_file_is_not_resumed(self) -> None:
        journal = self.place / "out" / "journal.jsonl"
        journal.parent.mkdir()
        for make in (lambda: journal.symlink_to(self.victim), lambda: os.mkfifo(journal)):
            make()
            _, done = self.begun("--resume")
            self.assertEqual(done.returncode, 2, done.stderr.decode())
            self.assertIn(b"no plain file", done.stderr)
            journal.unlink()

    def test_a_reduced_model_that_is_a_pipe_is_not_waited_for(self) -> None:
        folder, done = self.begun()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (folder / "reduced.pt").unlink()
        os.mkfifo(folder / "reduced.pt")
        _, done = self.begun("--resume")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertTrue((folder / "reduced.pt").is_file())

    def test_a_journal_of_a_terabyte_or_nested_without_end(self) -> None:
        folder, done = self.begun()
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        header = (folder / "journal.jsonl").read_text().splitlines()[0] + "\n"
        nested = '{"hash": "x", "verdict": ' + "[" * 1000000 + "]" * 1000000 + "}\n"
        (folder / "journal.jsonl").write_text(header + nested)
        _, done = self.begun("--resume")
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(b"line that no journal has", done.stderr)
        os.truncate(folder / "journal.jsonl", 1 << 40)
        _, done = self.begun("--resume")
        self.assertEqual(done.returncode, 2, done.stderr.decode())

    def test_a_second_run_is_refused(self) -> None:
        folder = self.place / "out"
        folder.mkdir()
        with contextlib.ExitStack() as stack:
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            done = self.run_program(str(self.model), "-o", str(folder))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"another run", done.stderr)


if __name__ == "__main__":
    PROGRAM, FIXTURES = sys.argv[1], Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

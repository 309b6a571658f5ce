"""The models of a night: files, folders and globs become archives, each known by its content."""

import glob
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from .errors import TriageError

SUFFIXES = (".pt", ".pth", ".ptl", ".pt2")
# A file that torch.compile leaves behind is told by what it says: not every program and every log is a model.
LEFT_BEHIND = {".py": b"torch._dynamo.repro", ".log": b"fx_graph_runnable"}
KNOWN_AS = ", ".join((*SUFFIXES, "repro.py and logs of torch.compile"))
NOT_MODELS = ("inputs.pt",)
STEPS_OF_A_MINIFIER = "checkpoints"  # the folder in which PyTorch's keeps each program that it came by
DATA = ("storages", "checkpoints/storages")  # beside a repro.py


@dataclass(frozen=True)
class Model:
    path: Path
    digest: str  # of the archive and of the inputs beside it: a model whose inputs changed is another model

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def shown(self) -> str:
        return as_text(self.path)


def as_text(path: Path | str) -> str:
    """A name as text: bytes in it that are no UTF-8 are spelt out."""
    return os.fsencode(path).decode(errors="backslashreplace")


def inputs_beside(model: Path) -> Path | None:
    beside = model.with_name("inputs.pt")
    return beside if beside.is_file() else None


def data_beside(model: Path) -> list[Path]:
    """Where a repro.py has its inputs saved: beside the file itself, where `model` is a link. No links among them: they
    come with the program, and may lead anywhere."""
    if model.suffix != ".py":
        return []
    folders = [model.resolve().parent / name for name in DATA]
    found = [file for folder in folders if folder.is_dir() and not folder.is_symlink() for file in folder.iterdir()]
    return sorted(file for file in found if file.is_file() and not file.is_symlink())


def in_its_folder(path: Path) -> Path:
    """One name for a file however it was come by. A link stays one: the inputs beside it are meant, not those beside
    what it leads to."""
    return path.parent.resolve() / path.name


def digest_of(model: Path) -> str:
    digest = hashlib.sha256()
    for part in filter(None, (model, inputs_beside(model), *data_beside(model))):
        with part.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def digest_of_unreadable(model: Path) -> str:
    """Returns a digest of the path, as the content is unknown tonight: the model stands for itself under its path, and
    its checks say what is wrong."""
    return hashlib.sha256(b"unreadable\0" + os.fsencode(model)).hexdigest()


def is_model(path: Path) -> bool:
    if path.suffix in LEFT_BEHIND:
        return path.parent.name != STEPS_OF_A_MINIFIER and says(path, LEFT_BEHIND[path.suffix])
    return path.suffix in SUFFIXES and path.name not in NOT_MODELS and not path.name.endswith("_inputs.pt")


def is_file(path: Path) -> bool:
    """False too in a folder that may be listed and not entered, where Path.is_file() raises."""
    return os.path.isfile(path)  # noqa: PTH113


def says(path: Path, words: bytes) -> bool:
    """A pipe is not waited for."""
    if not is_file(path):
        return False
    try:
        with path.open("rb") as file:
            before = b""
            while part := file.read(1 << 20):
                if words in before + part:
                    return True
                before = part[-len(words) :]
    except OSError:  # it cannot be read, and is not named to be a model
        pass
    return False


def paths_of(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        return sorted(found for found in path.rglob("*") if is_model(found) and is_file(found))
    if path.is_file():
        return [path]
    found = sorted(Path(name) for name in glob.glob(pattern, recursive=True))
    inside = [each for one in found for each in (paths_of(str(one)) if one.is_dir() else [one])]
    return [each for each in inside if is_model(each) and each.is_file()]  # a pipe would be waited for


def find_models(patterns: list[str]) -> list[Model]:
    models: dict[tuple[Path, ...], Model] = {}
    for pattern in patterns:
        paths = paths_of(pattern)
        if not paths:
            raise TriageError(f"{pattern}: no model there ({KNOWN_AS}); give files, folders or globs")
        for path in paths:
            model = in_its_folder(path)
            try:
                digest = digest_of(model)
            except FileNotFoundError:
                continue  # it went away while the folder was read: not among tonight's models
            except OSError:  # one file stops no night
                digest = digest_of_unreadable(model)
            files = filter(None, (model, inputs_beside(model)))
            models.setdefault(tuple(file.resolve() for file in files), Model(model, digest))
    return list(models.values())

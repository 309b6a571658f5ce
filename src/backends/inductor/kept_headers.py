"""The header that all kernels share, precompiled: kept from one run to the next, where it takes seconds to make.

PyTorch keeps it in the temporary folder, and our temporary folder is removed after each run. The header in that folder
is a copy, so that no candidate writes the one that is kept; PyTorch's name for it has a digest of all that it was made
of.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

MOST = 4  # of some 150 MB each: one for each PyTorch and each pair of options


def bring(store: Path, compiled: Path) -> bool:
    """Copies the kept header to `compiled`. False if none is kept yet or there is no room: then it has to be made."""
    kept = store / compiled.name
    with contextlib.suppress(OSError):
        if is_ours(kept):
            copy_whole(kept, compiled)
            return True
    return False


def keep(used: Path, store: Path) -> None:
    """Copies to `store` the headers in `used` that it lacks; does without where that fails."""
    with contextlib.suppress(OSError):
        new = [file for file in compiled_in(used) if is_ours(file) and not (store / file.name).exists()]
        if new:
            store.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in new:
                copy_whole(file, store / file.name)
            leave_newest(store)


def compiled_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.h.gch"))


def is_ours(file: Path) -> bool:
    """True for a file of this user, not a link, that no other may write."""
    status = file.lstat()
    writable_for_others = bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not writable_for_others


def copy_whole(source: Path, target: Path) -> None:
    """Under its name there is all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=target.parent)
    try:
        with open(descriptor, "wb") as copy, open(source, "rb") as original:
            shutil.copyfileobj(original, copy, 1 << 20)
        os.rename(name, target)
    except BaseException:
        os.unlink(name)
        raise


def leave_newest(folder: Path) -> None:
    newest_first = sorted(compiled_in(folder), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in newest_first[MOST:]:
        file.unlink(missing_ok=True)

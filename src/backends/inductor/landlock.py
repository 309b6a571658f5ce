"""From here on this process and its children write into some folders only, whatever they were allowed before."""

import ctypes
import os
import struct

# linux/landlock.h; the numbers are the same on every machine.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, PATH_BENEATH = 1, 1
WRITE_FILE = 1 << 1
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE = 1 << 13, 1 << 14  # of versions 2 and 3
PR_SET_NO_NEW_PRIVS = 38

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock: " + os.strerror(ctypes.get_errno()))
    return result


def write_only_into(*folders):
    """Restricts this process and its children to writing into `folders`, for good. Without Landlock nothing is
    confined, which repro-minify has said."""
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return
    rights = WRITE_FILE | REMOVE_AND_MAKE | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("Q", rights)
    ruleset = checked(libc.syscall(CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for folder in folders:
            allow(ruleset, folder, rights)
        for device in ("/dev/null", "/dev/zero", "/dev/full"):
            allow(ruleset, device, rights & (WRITE_FILE | TRUNCATE))
        checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        checked(libc.syscall(RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def places_of_cuda_driver(threads):
    """Where CUDA's driver writes as it starts: its devices, which confine() has told apart from others already, and
    `threads`, a folder of the threads that it names. Empty on a machine without such a device."""
    # The folder itself cannot be listed here.
    names = ("nvidiactl", "nvidia-uvm", "dxg", "nvhost-ctrl", "nvmap", "nvgpu")
    return ["/dev", threads] if any(os.path.exists(f"/dev/{name}") for name in names) else []


def allow(ruleset, path, rights):
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        checked(libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0))
    finally:
        os.close(place)

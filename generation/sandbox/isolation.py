"""How a child is kept apart: by bubblewrap's namespaces and a filter of system calls. No network, no files, no processes.

The child sees Python's own files and the system's libraries, read-only, and nothing else: no home, no /etc, no /proc, no /dev, and
nowhere to write. It has no environment and no capability. Sockets, new processes and threads, and calls that look into other
processes or into the kernel are refused by number, so that what namespaces do not cover (such as a virtual machine's own
sockets) is out of reach too.
"""

from __future__ import annotations

import platform
import shutil
import struct
import sys
import sysconfig
from pathlib import Path

TOOL = "bwrap"
SYSTEM = ("/usr/lib", "/usr/lib64")
LINKED = ("/lib", "/lib64")
EPERM = 1
# Refused on (x86-64, ARM 64); a number below 0 does not exist there.
REFUSED = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "fork": (57, -1),
    "vfork": (58, -1),
    "clone3": (435, 435),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "personality": (135, 92),
    "kill": (62, 129),
    "tgkill": (234, 131),
}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # the column above, and the kernel's name for it
# Classic BPF, as seccomp takes it.
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
KILL, ALLOW, ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
X32 = 0x40000000  # calls of another kind, with numbers of their own


class CannotIsolate(RuntimeError):
    """A program cannot be isolated on this machine; the message says why, and what would help."""


def machine() -> str:
    if not sys.platform.startswith("linux") or platform.machine() not in MACHINES:
        raise CannotIsolate(
            "Python programs run only on Linux, on x86-64 or ARM 64: elsewhere they cannot be isolated."
        )
    return platform.machine()


def call_filter() -> bytes:
    """Refuses the calls above with EPERM; a call of another architecture ends the process."""
    column, architecture = MACHINES[machine()]
    program = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for number in (row[column] for row in REFUSED.values() if row[column] >= 0):
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | EPERM)]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in program)


def isolated(script: Path, *arguments: str, filter_fd: int) -> list[str]:
    """The command that runs a script of Python alone; `filter_fd` is where it reads its filter of system calls."""
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += [
        "--uid",
        "65534",
        "--gid",
        "65534",
        "--hostname",
        "sandbox",
        "--clearenv",
        "--setenv",
        "PYTHONHASHSEED",
        "0",
    ]
    for path in map(Path, LINKED):
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    python = str(Path(sys.executable).resolve())
    own = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("LIBDIR")]
    shown = [*SYSTEM, python, *(path for path in own if path and not path.startswith("/usr/lib"))]
    for path in dict.fromkeys(path for path in shown if Path(path).exists()):
        options += ["--ro-bind", path, path]
    options += [
        "--ro-bind",
        str(script),
        "/script.py",
        "--remount-ro",
        "/",
        "--chdir",
        "/",
        "--seccomp",
        str(filter_fd),
    ]
    return [tool(), *options, python, "-s", "-P", "-S", "-B", "/script.py", *arguments]


def tool() -> str:
    if (path := shutil.which(TOOL)) is None:
        raise CannotIsolate("Python programs need bubblewrap, which isolates them: apt-get install bubblewrap.")
    return path

#!/usr/bin/env python3
"""Runs a command under a seccomp filter that refuses system calls, as container runtimes do.

    seccomp.py NAME=ERRNO... -- command

A refused call returns -ERRNO; everything else is allowed."""

import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {
    "process_vm_readv": 310,
    "perf_event_open": 298,
    "timer_create": 222,
    "memfd_create": 319,
    "pidfd_open": 434,
    "fallocate": 285,
    "prlimit64": 302,
}
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def instruction(code, k, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, k)


def install(refused):
    """Installs a filter. refused: system call number -> errno."""
    program = instruction(LOAD, 0)  # seccomp_data.nr
    for number, error in refused.items():
        program += instruction(JUMP_EQUAL, number, 0, 1) + instruction(RETURN, REFUSE | error)
    program += instruction(RETURN, ALLOW)
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, header, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def refusing(*names, error="EPERM"):
    """Returns a wrapper for EndToEnd.prof_run(): the command under a filter."""
    return lambda command: [sys.executable, os.path.abspath(__file__), *(f"{name}={error}" for name in names), "--",
                            *command]


def main():
    split = sys.argv.index("--")
    assert platform.machine() == "x86_64"
    install({NUMBERS[name]: getattr(errno, error)
             for name, error in (argument.split("=") for argument in sys.argv[1:split])})
    os.execvp(sys.argv[split + 1], sys.argv[split + 1:])


if __name__ == "__main__":
    main()

"""Runs the program that profilers deadlock on (tests/end_to_end/programs/stress.cpp), and returns the result."""

import os
import signal
import subprocess

from measuring import BUILD

STRESS = BUILD / "tests/programs/stress"
PLUGIN = BUILD / "tests/programs/plugin.so"
UNHARMED, HANG, CRASH, WRONG = "unharmed", "hang", "crash", "wrong output"
OUTPUT = b"all loops turned: yes, wrong: 0\n"


def stress_command(seconds):
    return [STRESS, str(seconds), PLUGIN]


def stressed(command, seconds, env=None, passes_status_on=True):
    """Returns (result, standard error) of a command that runs stress_command(seconds)."""
    process = subprocess.Popen([str(word) for word in command], env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        # Several at a time take longer on few processors; a deadlock takes forever.
        stdout, stderr = process.communicate(timeout=3 * seconds + 30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return HANG, process.communicate()[1]
    if OUTPUT in stdout and (process.returncode == 42 or not passes_status_on):
        return UNHARMED, stderr
    return (WRONG if process.returncode in (1, 42) else CRASH), stderr

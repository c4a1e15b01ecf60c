"""What an entry of the list of real programs says: how to set it up, how to run it, and what to compare."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """One program. `command` and the scripts are shell text; before they run, {input} is replaced by the folder
    that `setup` filled, {port} by a free TCP port and {sources} by the folder of the sources kept here."""

    name: str
    command: str                # run bare and measured, each in an empty folder of the same name
    setup: str = ""             # once, in {input}
    prepare: str = ""           # before each run, in its folder
    needs: tuple = ()           # commands and files without which it cannot be run
    quick: bool = False         # one of the third that runs with the other tests
    trace: bool = False
    # What its code is: "native"; "generated", in part, by a compiler that runs inside it; "no CFI", built without
    # unwind tables; or "unmeasured", where prof can only do no harm.
    kind: str = "native"
    status: int = 0
    environment: tuple = ()     # (name, value)
    normalise: tuple = ()       # (pattern, replacement) for both output streams
    ignore: tuple = ()          # patterns of files whose contents are different in every run
    hot: tuple = ()             # (pattern of a module, least share of the CPU time in it)
    processes: int = 1          # at least
    threads: int = 1            # at least
    least_samples: int = 50
    timeout: int = 120          # seconds, for one run

    # A server: `command` stays in the foreground. Its own output, with process numbers and times, is not compared,
    # but that of its clients is.
    clients: str = ""
    stop: str = ""              # shell text; a signal's name is sent to what was started

    @property
    def is_server(self):
        return bool(self.clients)

"""The fields of an entry in the list of real programs: how to set it up, how to run it, and what to compare."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """One program. `command` and the scripts are shell text. Before they run, {input} is replaced by the folder that
    `setup` filled, {port} by a free TCP port, and {sources} by the folder of the sources kept here."""

    name: str
    command: str                # run bare and measured, each in an empty folder of the same name
    setup: str = ""             # once, in {input}
    prepare: str = ""           # before each run, in its folder
    needs: tuple = ()           # commands and files that it needs
    quick: bool = False         # one of the few that run with the other tests
    trace: bool = False
    # The kind of its code: "native"; "generated", in part, by a compiler that runs inside it; "no CFI", built without
    # unwind tables; or "unmeasured", if prof can only avoid harm.
    kind: str = "native"
    status: int = 0
    environment: tuple = ()     # (name, value)
    normalise: tuple = ()       # (pattern, replacement) for both output streams
    ignore: tuple = ()          # patterns of files whose contents differ in every run
    hot: tuple = ()             # (pattern of a module, least share of the CPU time in it)
    processes: int = 1          # at least
    threads: int = 1            # at least
    least_samples: int = 50
    timeout: int = 120          # seconds, for one run

    # A server: `command` stays in the foreground. Its own output, with process numbers and times, is not compared, but
    # that of its clients is.
    clients: str = ""
    stop: str = ""              # shell text; the name of a signal is sent to the started process

    @property
    def is_server(self):
        return bool(self.clients)

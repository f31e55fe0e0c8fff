"""The process from which the roles are forked: `python -m carrel.server.fork_server SUPERVISOR SOCKET MODULE`.

It imports MODULE and calls its `load` once; a role that is forked from it has nothing to load any more. It starts no
thread, runs no event loop and opens nothing but its socket, so that a role begins as if it were alone. On that socket
it says when it is ready; each message from there asks for one role, and brings the role's link and its log. When the
code on the disk is another one by then, as during an upgrade, it ends instead: the next one loads that.

A role is no child of this process: the one between the two ends at once, and the supervisor adopts what that leaves
behind. So the supervisor sees a role end like any child, and the end of this process ends no role.
"""

import gc
import importlib
import os
import signal
import socket
import sys
from contextlib import suppress

import setproctitle

from carrel.server import prctl
from carrel.server.children import report

_LONGEST_BYTES = 100


def main(arguments: list[str]) -> None:
    # 1. Nothing of what is loaded is ever garbage. A look for it takes time, and writes to pages that all share.
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    supervisor, requests = int(arguments[0]), socket.socket(fileno=int(arguments[1]))
    prctl.die_with_parent(supervisor)
    roles = importlib.import_module(arguments[2])
    roles.load()
    gc.freeze()
    files = [file for module in sys.modules.values() if (file := getattr(module, "__file__", None))]
    loaded = {file: _changed_at(file) for file in files}
    requests.send(b"ready")
    # 2. From here on in one of the roles. It does nothing before the supervisor knows its pid.
    forked = _serve(requests, loaded)
    if forked is None:
        return
    role, link = forked
    link.send(str(os.getpid()).encode())
    if not link.recv(_LONGEST_BYTES):
        return
    prctl.die_with_parent(supervisor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    setproctitle.setproctitle(f"{sys.executable} -m carrel.server.role {role}")
    setproctitle.setthreadtitle(f"carrel-{role.split(',')[0]}")

    def ready() -> None:
        with suppress(OSError):
            link.send(b"ready")

    roles.forked(role, ready)


def _serve(requests: socket.socket, loaded: dict[str, int]) -> tuple[str, socket.socket] | None:
    """Fork a role for each request, until the supervisor closes or the code changes. Returns in each role too: its
    name and its link.
    """
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, _LONGEST_BYTES, 2)
        if not message:
            return None
        if changed := next((file for file, when in loaded.items() if _changed_at(file) != when), None):
            report(f"{changed} has changed since it was loaded")
            return None
        link, log = socket.socket(fileno=descriptors[0]), descriptors[1]
        try:
            forked = _fork()
        except OSError as error:
            # The table of processes is full. The supervisor tries again later.
            forked = False
            with suppress(OSError):
                link.send(str(-(error.errno or 1)).encode())
        if forked:
            requests.close()
            for output in (1, 2):
                os.dup2(log, output)
            os.close(log)
            return message.decode(), link
        os.close(log)
        link.close()


def _fork() -> bool:
    """True in a new process, once the supervisor has adopted it; False in this one. Raises: OSError."""
    # The new process waits for the end of `held`, which is open here until the process between the two is gone.
    adopted, held = socket.socketpair()
    with adopted, held:
        between = os.fork()
        if between == 0:
            held.close()
            _fork_and_end()
            adopted.recv(1)
            return True
        status = os.waitstatus_to_exitcode(os.waitpid(between, 0)[1])
    if status > 0:
        raise OSError(status, os.strerror(status))
    return False


def _fork_and_end() -> None:
    """Return in a new process only."""
    try:
        if os.fork() != 0:
            os._exit(0)
    except OSError as error:
        os._exit(error.errno or 1)


def _changed_at(file: str) -> int:
    """Nanoseconds; 0 when it is gone."""
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


if __name__ == "__main__":
    main(sys.argv[1:])

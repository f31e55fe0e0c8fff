"""The process that forks the roles: `python -m carrel.server.fork_server SUPERVISOR SOCKET MODULE`.

It imports MODULE and calls its `load` once, so that forked roles load nothing. It starts no thread, runs no event loop
and opens only its socket, so that roles start from a clean state. On the socket it reports readiness; each message it
receives requests one role and carries the role's link and log. If the code on disk changes, as during an upgrade, it
exits, and its successor loads the new code.

Roles are not children of this process: an intermediate process exits immediately, and the supervisor adopts its
orphans. So the supervisor can wait for roles like for any child, and the end of this process ends no role.
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
    # 1. Loaded modules are never garbage: collecting takes time and writes to shared pages.
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    supervisor, requests = int(arguments[0]), socket.socket(fileno=int(arguments[1]))
    prctl.die_with_parent(supervisor)
    # structlog would load it for tracebacks in a terminal.
    sys.modules["rich"] = None  # type: ignore[assignment]
    roles = importlib.import_module(arguments[2])
    roles.load()
    gc.freeze()
    files = [file for module in sys.modules.values() if (file := getattr(module, "__file__", None))]
    loaded = {file: _changed_at(file) for file in files}
    requests.send(b"ready")
    # 2. From here on in a role, which does nothing until the supervisor knows its pid.
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
    """Fork a role for each request until the supervisor closes the socket or the code changes. Also returns in each
    role, with its name and link.
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
            # The process table is full. The supervisor retries later.
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
    """True in the new process once the supervisor has adopted it; False in this one. Raises: OSError."""
    # The new process waits for end of file on `held`, which stays open until the intermediate process has exited.
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
    """Returns only in the new process."""
    try:
        if os.fork() != 0:
            os._exit(0)
    except OSError as error:
        os._exit(error.errno or 1)


def _changed_at(file: str) -> int:
    """Modification time in nanoseconds; 0 if the file is missing."""
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0


if __name__ == "__main__":
    main(sys.argv[1:])

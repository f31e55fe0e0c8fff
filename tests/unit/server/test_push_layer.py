"""`carrel push-layer`, as a terminal sees it."""

import os
import pty
import select
import sys
from contextlib import suppress
from pathlib import Path

from carrel.server import push_layer

ASK = "from carrel.server.push_layer import _secret; print(len(_secret('-')))"


def test_a_password_is_not_shown_at_a_terminal() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", ASK])
    assert select.select([terminal], [], [], 30)[0]
    shown = os.read(terminal, 1024)
    os.write(terminal, b"s3cret\n")
    with suppress(OSError):  # the end of a terminal
        while more := os.read(terminal, 1024):
            shown += more
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0
    assert shown.decode().split() == ["Password", "or", "token:", "6"]


def test_a_password_is_the_first_line_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    assert push_layer._secret(str(tmp_path / "token")) == "s3cret"

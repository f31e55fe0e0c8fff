"""The process that measures in a container, by itself."""

import json
import subprocess
import sys
from pathlib import Path

from carrel.apps.network_checks import program


def started() -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, program.__file__], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    )


def test_it_says_what_it_has_and_ends_with_its_input() -> None:
    process = started()
    assert process.stdout
    assert process.stdin
    assert json.loads(process.stdout.readline()) == {"here": True}
    ready = json.loads(process.stdout.readline())
    assert ready["free_bytes"] > 0
    assert 0 < ready["port"] < 1 << 16
    process.stdin.close()
    assert process.wait(30) == 0


def test_the_interface_is_that_which_has_sent_the_most() -> None:
    assert program.interface_of_most({"lo": 5, "eth0": 100}, {"lo": 6, "eth0": 300, "eth1": 7}) == "eth0"
    assert program.interface_of_most({"lo": 5}, {"lo": 5}) == ""
    assert program.interface_of_most({}, {}) == ""


def test_it_imports_nothing_of_ours() -> None:
    assert "carrel" not in Path(program.__file__).read_text().lower()

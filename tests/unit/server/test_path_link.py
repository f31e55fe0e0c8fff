"""`carrel` on the PATH: offered once, made only after a yes, and found again by `carrel uninstall`."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from carrel.server import path_link


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a user who is not root, at a terminal, without a `carrel` on the PATH."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(path_link, "_has_terminal", lambda: True)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    return tmp_path


def _offered(data_dir: Path, *, yes: bool) -> tuple[list[str], list[str]]:
    questions: list[str] = []
    messages: list[str] = []

    def consent(question: str) -> bool:
        questions.append(question)
        return yes

    path_link.offer(data_dir, consent, messages.append)
    return questions, messages


def test_a_yes_makes_the_link_which_is_found_again(home: Path) -> None:
    questions, messages = _offered(home, yes=True)
    link = home / ".local" / "bin" / "carrel"
    assert len(questions) == 1
    assert str(link) in questions[0]
    assert link.resolve() == path_link.program().resolve()
    assert path_link.existing() == link
    assert "PATH" in messages[0]
    assert _offered(home, yes=True) == ([], [])


def test_a_no_is_not_asked_again(home: Path) -> None:
    assert len(_offered(home, yes=False)[0]) == 1
    assert _offered(home, yes=False) == ([], [])
    assert path_link.existing() is None
    assert not (home / ".local").exists()


def test_without_a_terminal_nobody_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert _offered(home, yes=True) == ([], [])
    assert list(home.iterdir()) == []


def test_another_program_of_that_name_is_left_alone(home: Path) -> None:
    link = home / ".local" / "bin" / "carrel"
    link.parent.mkdir(parents=True)
    link.symlink_to("/bin/true")
    assert _offered(home, yes=True) == ([], [])
    assert path_link.existing() is None
    assert link.readlink() == Path("/bin/true")

"""Directories of folders as contexts of builds, read directly."""

import io
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from carrel_client.ignored import MOST_RULES

from carrel.builds import folder_contexts
from carrel.builds.contexts import LARGEST_BYTES
from carrel.core.errors import Invalid, TooLarge
from carrel.folders.files.folder_access import LONG_S
from carrel.storage.paths import opened_in


def names(root: Path) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(folder_contexts.read(root, ""))) as archive:
        return sorted(archive.getnames())


def filled(root: Path, rules: str, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("1")
    (root / ".dockerignore").write_text(rules)
    return root


def test_rules_leave_out_what_they_leave_out_of_a_build_by_docker(tmp_path: Path) -> None:
    root = filled(tmp_path, "*\n!src\n**/*.md", "Dockerfile", "a.py", "src/a.py", "src/a.md", ".git/config")
    assert names(root) == [".dockerignore", "Dockerfile", "src/a.py"]


@pytest.mark.parametrize("rules", ["a\n" * (MOST_RULES + 1), "[", "#" * 70_000])
def test_rules_that_cannot_be_read_are_refused(tmp_path: Path, rules: str) -> None:
    with pytest.raises(Invalid) as refused:
        names(filled(tmp_path, rules, "a"))
    assert refused.value.code == "build.bad_ignore_file"


def test_reading_ends_before_its_thread_counts_as_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path, "", *(f"{number}" for number in range(10)))
    assert folder_contexts._LONGEST_S < LONG_S
    assert len(names(root)) == 11
    seconds = iter(range(0, 1000, 50))
    monkeypatch.setattr(folder_contexts, "monotonic", lambda: next(seconds))
    with pytest.raises(TooLarge):
        names(root)
    assert next(seconds) < 450


def test_paths_that_no_system_opens_are_refused(tmp_path: Path) -> None:
    root = filled(tmp_path, "")
    handle = os.open(root, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("a" * 250, dir_fd=handle)
        inner = os.open("a" * 250, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    with pytest.raises(TooLarge):
        names(root)


def test_a_file_that_grows_meanwhile_takes_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = filled(tmp_path, "", "a")

    def grown(handle: int, name: str, path: str) -> io.FileIO:
        if name == "a":
            os.truncate(root / name, 256 << 20)
        return opened_in(handle, name, path)

    monkeypatch.setattr(folder_contexts, "opened_in", grown)
    tracemalloc.start()
    with pytest.raises(TooLarge):
        names(root)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * LARGEST_BYTES


@pytest.mark.parametrize("rules", ["data\n", "*\n!src\n"])
def test_what_is_below_ignored_directories_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    many = [f"{above}/{number}/x" for above in ("data", ".git", ".carrel") for number in range(5)]
    root = filled(tmp_path, rules, "src/a", *many)
    monkeypatch.setattr(folder_contexts, "_MOST_SEEN", 6)
    assert names(root) == [".dockerignore", "src/a"]

"""Directories of folders as contexts of builds, read directly."""

import io
import tarfile
from pathlib import Path

import pytest
from carrel_client.ignored import MOST_RULES

from carrel.builds import folder_contexts
from carrel.core.errors import Invalid


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

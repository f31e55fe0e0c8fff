"""The installation's key: made in the data directory, or given as a file."""

from pathlib import Path

import pytest

from carrel.core.errors import Invalid
from carrel.server.settings import Settings


def test_a_key_is_made_once_in_the_data_directory(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert len(settings.key()) == 32
    assert settings.key() == (tmp_path / "key").read_bytes()


def test_a_given_key_is_used_and_none_is_made(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(bytes(range(32)))
    assert Settings(data_dir=tmp_path, key_file=str(given)).key() == bytes(range(32))
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize(("content", "complaint"), [(None, "cannot be read"), (b"short\n", "has 6 bytes")])
def test_a_file_that_is_no_key_is_rejected(content: bytes | None, complaint: str, tmp_path: Path) -> None:
    given = tmp_path / "given"
    if content is not None:
        given.write_bytes(content)
    with pytest.raises(Invalid, match=complaint) as raised:
        Settings(data_dir=tmp_path, key_file=str(given)).key()
    assert raised.value.code == "setup.key_file"

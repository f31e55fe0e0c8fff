"""The address at which other copies of the API reach this one."""

import socket
from pathlib import Path

import pytest

from carrel.server.settings import Settings


@pytest.mark.parametrize(
    ("of_name", "way_out", "host"),
    [
        ("10.0.0.5", "10.0.0.9", "10.0.0.5"),
        # As Debian has it in /etc/hosts: every machine would have the same address.
        ("127.0.1.1", "10.0.0.9", "10.0.0.9"),
        ("127.0.1.1", "", "127.0.0.1"),
        ("", "10.0.0.9", "10.0.0.9"),
    ],
)
def test_it_is_none_that_all_machines_have(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, of_name: str, way_out: str, host: str
) -> None:
    def named(name: str) -> str:
        if not of_name:
            raise OSError("unknown")
        return of_name

    def connected(of: socket.socket, address: object) -> None:
        if not way_out:
            raise OSError("unreachable")

    monkeypatch.setattr(socket, "gethostbyname", named)
    monkeypatch.setattr(socket.socket, "connect", connected)
    monkeypatch.setattr(socket.socket, "getsockname", lambda of: (way_out, 1))
    settings = Settings(data_dir=tmp_path, host="0.0.0.0", port=8700)
    assert settings.effective_internal_url == f"http://{host}:8700"

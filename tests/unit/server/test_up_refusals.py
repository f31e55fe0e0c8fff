"""What `carrel up` refuses before it makes anything: one sentence, a hint, exit code 2."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from own_authority import certificates

CARREL = Path(sys.executable).with_name("carrel")


def _up(tmp_path: Path, *options: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    with socket.socket() as free:  # a running Carrel has the usual one
        free.bind(("127.0.0.1", 0))
        clean["CARREL_PORT"] = str(free.getsockname()[1])
    done = subprocess.run(
        [CARREL, "up", "--detach", "--data-dir", str(tmp_path / "data"), *options],
        env={**clean, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert not (tmp_path / "data").exists()
    return done


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert (
            f"Another program listens on 127.0.0.1 port {port}." in _up(tmp_path, "--port", str(port)).stderr
        )


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    answer = _up(tmp_path, "--host", "192.0.2.1")
    assert "This machine has no address 192.0.2.1." in answer.stderr
    assert "(setup.host)" in answer.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARREL_PORT", "abc"),
        ("CARREL_PORT", "70000"),
        ("CARREL_FAKE_ACCELERATORS", "-1"),
        ("CARREL_SIMULATED_ACCELERATORS", "h999x8"),
    ],
)
def test_a_wrong_value_in_the_environment_is_refused_by_its_name(
    tmp_path: Path, name: str, value: str
) -> None:
    assert f"error: {name}={value}: " in _up(tmp_path, **{name: value}).stderr


def test_a_database_address_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    answer = _up(tmp_path, CARREL_DATABASE_URL="postgresql:///carrel?nosuch=1")
    assert "(setup.database)" in answer.stderr


def test_a_port_that_leaves_no_room_for_the_apps_is_refused(tmp_path: Path) -> None:
    assert "'65535' is not a port" in _up(tmp_path, "--port", "65535").stderr


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and its key that can be used."""
    certificates(tmp_path, "carrel.test")
    return tmp_path / "server.pem", tmp_path / "server.key"


def test_a_certificate_or_key_that_is_not_there_is_refused(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    certificate, key = map(str, pair)
    nothing = str(tmp_path / "nothing")
    for options in (
        ("--tls-cert", nothing, "--tls-key", key),
        ("--tls-cert", certificate, "--tls-key", nothing),
    ):
        assert f"'{nothing}': No such file or directory" in _up(tmp_path, *options).stderr
    answer = _up(tmp_path, CARREL_TLS_CERT=nothing, CARREL_TLS_KEY=key)
    assert f"error: {nothing}: No such file or directory. (setup.tls)" in answer.stderr


def test_one_of_certificate_and_key_is_not_enough(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    assert "Specify --tls-key too" in _up(tmp_path, "--tls-cert", str(pair[0])).stderr
    assert "Specify --tls-cert too" in _up(tmp_path, "--tls-key", str(pair[1])).stderr


def test_a_key_that_everybody_can_read_is_refused(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    pair[1].chmod(0o644)
    answer = _up(tmp_path, "--tls-cert", str(pair[0]), "--tls-key", str(pair[1]))
    assert f"hint: chmod 600 {pair[1]}" in answer.stderr

"""`carrel up` with a certificate: what answers, what the command line needs, and the way back."""

import json
import ssl
from dataclasses import replace
from pathlib import Path

import httpx2
from own_authority import certificates

from e2e.running import UP_S, Running


def restarted(carrel: Running, *options: str) -> str:
    """What `carrel up` says of a new start."""
    where = ("--data-dir", str(carrel.data_dir))
    stopped = carrel.carrel("down", *where)
    assert stopped.returncode == 0, stopped.stderr
    started = carrel.carrel("up", *where, "--detach", *options, timeout=UP_S)
    assert started.returncode == 0, started.stdout + started.stderr
    return started.stdout


def test_up_speaks_tls_with_a_certificate_until_it_is_told_not_to(
    carrel: Running, running_session: str, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text(certificates(tmp_path, "localhost", "*.localhost"))
    url = carrel.url.replace("http://", "https://")
    secure = replace(
        carrel, url=url, environment={**carrel.environment, "CARREL_URL": url, "SSL_CERT_FILE": str(ca)}
    )
    try:
        # 1. With a certificate. The command line reaches the API and, over a WebSocket, a session.
        given = ("--tls-cert", str(tmp_path / "server.pem"), "--tls-key", str(tmp_path / "server.key"))
        said = restarted(carrel, *given)
        assert f"Carrel is ready: {url}\n" in said
        assert "the certificate is not for" not in said
        assert_secure(secure, ca)
        assert secure.shell(running_session, "echo $((6 * 7))") == "42\n"
        distrusting = replace(secure, environment={**carrel.environment, "CARREL_URL": url})
        assert distrusting.carrel("session", "ls").returncode != 0
        # 2. It stays so, whether Carrel runs or is started again.
        twice = carrel.carrel("up", "--data-dir", str(carrel.data_dir), "--detach")
        assert (twice.returncode, f"Carrel is ready: {url}\n" in twice.stdout) == (0, True), twice.stderr
        assert f"Carrel is ready: {url}\n" in restarted(carrel)
        assert_secure(secure, ca)
    finally:
        # 3. Until it is ended.
        said = restarted(carrel, "--no-tls")
    assert f"Carrel is ready: {carrel.url}\n" in said
    assert httpx2.get(f"{carrel.url}/api/v1/health").status_code == 200
    assert carrel.carrel("session", "ls").returncode == 0
    assert addresses(carrel)["gateway"].startswith("http://")


def assert_secure(secure: Running, ca: Path) -> None:
    """Page, API and gateway speak TLS, plain HTTP leads there, and status and the command line say so."""
    with httpx2.Client(verify=ssl.create_default_context(cafile=ca)) as client:
        assert "<title>" in client.get(f"{secure.url}/").text
        assert client.get(f"{secure.url}/api/v1/health").json()["status"] == "ok"
        assert client.get(f"https://localhost:{secure.port + 1}/.carrel/health").status_code == 200
        plain = client.get(f"http://localhost:{secure.port}/sessions")
        assert (plain.status_code, plain.headers["location"]) == (307, f"{secure.url}/sessions")
    shown = addresses(secure)
    assert (shown["api"], shown["gateway"]) == (secure.url, f"https://localhost:{secure.port + 1}")
    listed = secure.carrel("session", "ls", "-o", "json")
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)["items"]


def addresses(carrel: Running) -> dict[str, str]:
    """Of each part, when all are well."""
    status = carrel.carrel("status", "--data-dir", str(carrel.data_dir), "-o", "json")
    assert status.returncode == 0, status.stdout + status.stderr
    return {line["part"]: line["address"] for line in json.loads(status.stdout)}

"""A running container engine: detected at the usual sockets, else installed and started."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from carrel.core.errors import Unavailable
from carrel.server.bootstrap import Consent, Say
from carrel.server.bootstrap.packages import NEEDS_CONSENT, as_root, has_apt, install

_START_S = 60.0
_DOCKER_SOCKET = Path("/var/run/docker.sock")
_SYSTEMD = Path("/run/systemd/system")
_SERVICE_POLICY = Path("/usr/sbin/policy-rc.d")
# cgroupfs-mount: without systemd, control groups may not be mounted, and dockerd does not mount them. ca-certificates:
# without them no registry is trusted.
_PACKAGES = ["docker.io", "iptables", "cgroupfs-mount", "ca-certificates"]


def find_or_install_engine(*, data_dir: Path, consent: Consent, say: Say) -> str:
    """The URL of a responding engine, such as `unix:///var/run/docker.sock`.

    Order: DOCKER_HOST; the sockets of rootful Docker, rootless Docker and Podman; an installed but stopped Docker,
    which is started; docker.io by apt.
    Twice: uses the first engine that responds and changes nothing.
    Raises: Unavailable with instructions for installing or starting an engine.
    """
    # 1. An engine named by the user, without fallback.
    named = os.environ.get("DOCKER_HOST")
    if named:
        return _named_engine(named)
    # 2. Running engines.
    denied: list[Path] = []
    for path in usual_sockets():
        answer = ping(f"unix://{path}")
        if answer is None:
            return f"unix://{path}"
        if isinstance(answer, PermissionError):
            denied.append(path)
    if denied:
        raise _denied(denied[0])
    # 3. Installed but stopped, or not installed.
    if _dockerd() is None:
        _install_docker(consent=consent, say=say)
    elif not consent("start Docker, which is installed but not running"):
        raise Unavailable(
            NEEDS_CONSENT, "Docker is installed but not running.", hint="Start it, or start again with --yes."
        )
    return _start_docker(data_dir=data_dir, say=say)


def usual_sockets() -> list[Path]:
    """Existing sockets of engines, in order of preference."""
    runtime_dir = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    candidates = [
        _DOCKER_SOCKET,
        runtime_dir / "docker.sock",
        Path.home() / ".docker/run/docker.sock",
        runtime_dir / "podman/podman.sock",
        Path("/run/podman/podman.sock"),
    ]
    return [path for path in candidates if _exists(path)]


def ping(url: str, *, timeout_s: float = 3.0) -> Exception | None:
    """None if an engine responds at the URL, else the error."""
    answer = _ask(url, timeout_s)
    return None if isinstance(answer, str) else answer


def version(url: str) -> str | None:
    """Name and version of the engine at the URL, such as "Docker 20.10.24"; None if it does not respond."""
    answer = _ask(url, 3.0)
    return answer if isinstance(answer, str) else None


def _ask(url: str, timeout_s: float) -> str | Exception:
    try:
        connection = _connection(url, timeout_s)
        try:
            connection.request("GET", "/_ping", headers={"Host": "engine"})
            response = connection.getresponse()
            response.read(64)
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        return error
    if response.status != 200:
        return OSError(f"it answered {response.status} {response.reason}")
    return response.getheader("Server", "").partition(" ")[0].replace("/", " ")


def _named_engine(url: str) -> str:
    problem = ping(url)
    if problem is None:
        return url
    raise Unavailable(
        "engine.unreachable",
        f"DOCKER_HOST is {url}, but no container engine responds there: {problem}",
        hint="Start that engine, or unset DOCKER_HOST to let Carrel look for one.",
    )


def _denied(path: Path) -> Unavailable:
    return Unavailable(
        "engine.denied",
        f"A container engine listens at {path}, but this user may not use it.",
        hint="Run: sudo usermod -aG docker $USER   then log in again, and start again.",
    )


def _exists(path: Path) -> bool:
    """True also for a socket in a directory without read permission: the ping reports who has access."""
    try:
        return path.exists()
    except PermissionError:
        return True


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("engine", timeout=timeout_s)
        self._path = path
        self._timeout_s = timeout_s

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._timeout_s)
        self.sock.connect(self._path)


def _connection(url: str, timeout_s: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return _UnixConnection(parts.path, timeout_s)
    if parts.scheme not in ("tcp", "http", "https") or not parts.hostname:
        raise ValueError("Carrel understands unix://, tcp:// and https:// addresses")
    if parts.scheme == "https" or os.environ.get("DOCKER_TLS_VERIFY"):
        return http.client.HTTPSConnection(
            parts.hostname, parts.port or 2376, timeout=timeout_s, context=_client_certificate()
        )
    return http.client.HTTPConnection(parts.hostname, parts.port or 2375, timeout=timeout_s)


def _client_certificate() -> ssl.SSLContext:
    """TLS context from the same files that the docker command reads."""
    folder = Path(os.environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    authority = folder / "ca.pem"
    context = ssl.create_default_context(cafile=str(authority) if authority.exists() else None)
    if (folder / "cert.pem").exists():
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def _dockerd() -> str | None:
    """Path of dockerd; the PATH of other users may lack root's directories."""
    return shutil.which("dockerd") or shutil.which("dockerd", path="/usr/local/sbin:/usr/sbin:/sbin")


def _install_docker(*, consent: Consent, say: Say) -> None:
    if not has_apt():
        raise Unavailable(
            "engine.not_installed",
            "No container engine responds on this machine.",
            hint="Install Docker (https://docs.docker.com/engine/install/) or Podman with its socket "
            "(systemctl --user enable --now podman.socket), or set DOCKER_HOST, then start again.",
        )
    with _package_starts_nothing():
        install(_PACKAGES, purpose="a container engine", consent=consent, say=say)


@contextmanager
def _package_starts_nothing() -> Iterator[None]:
    """Prevent the package from starting its daemon if systemd is not running: Carrel starts it.

    Its init script fails where it may not raise limits, and the whole installation would fail with it. The policy file
    that Debian consults before it starts a service denies docker while this process lives, so a file left behind by a
    kill has no effect.
    """
    prefix = as_root()
    if _SYSTEMD.is_dir() or _SERVICE_POLICY.exists() or prefix is None:
        yield
        return
    policy = f'#!/bin/sh\nif [ "$1" = docker ] && [ -d /proc/{os.getpid()} ]; then exit 101; fi\nexit 0\n'
    write = f"cat > {_SERVICE_POLICY} && chmod 755 {_SERVICE_POLICY}"
    subprocess.run([*prefix, "sh", "-c", write], input=policy.encode(), check=False, capture_output=True)
    try:
        yield
    finally:
        subprocess.run([*prefix, "rm", "-f", str(_SERVICE_POLICY)], check=False, capture_output=True)


def _start_docker(*, data_dir: Path, say: Say) -> str:
    """Start it by systemd, by its init script, or as a detached process, whichever works first."""
    prefix = as_root()
    if prefix is None:
        raise Unavailable(
            NEEDS_CONSENT,
            "Docker is installed but not running, and this user may not start it.",
            hint="Ask an administrator to run: sudo systemctl start docker",
        )
    say("starting Docker")
    url = f"unix://{_DOCKER_SOCKET}"
    if _SYSTEMD.is_dir():
        subprocess.run([*prefix, "systemctl", "start", "docker"], capture_output=True, check=False)
        if _answers_within(url, _START_S):
            return url
    # The init script raises limits, which containers and restricted root may not; then it starts nothing.
    elif _init_script_started(prefix) and _answers_within(url, _START_S / 2):
        return url
    log = data_dir / "engine" / "dockerd.log"
    _start_detached(prefix, log)
    if _answers_within(url, _START_S):
        say(f"Docker runs; its log is {log}")
        return url
    raise Unavailable(
        "engine.does_not_start",
        f"Docker was started but does not respond: {_last_error(log)}",
        hint=f"Its log is {log}.",
    )


def _init_script_started(prefix: Sequence[str]) -> bool:
    if not Path("/etc/init.d/docker").exists():
        return False
    command = [*prefix, "/etc/init.d/docker", "start"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _start_detached(prefix: Sequence[str], log: Path) -> None:
    """Start dockerd in its own session, so that it outlives this process and its terminal."""
    if shutil.which("cgroupfs-mount"):
        subprocess.run([*prefix, "cgroupfs-mount"], capture_output=True, check=False)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        subprocess.Popen(
            [*prefix, _dockerd() or "dockerd"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _answers_within(url: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        problem = ping(url)
        if problem is None:
            return True
        if isinstance(problem, PermissionError):
            raise _denied(_DOCKER_SOCKET)
        time.sleep(0.2)
    return False


def _last_error(log: Path) -> str:
    """The last error in the log, for people."""
    if not log.exists():
        return "it left no log"
    lines = log.read_text(errors="replace").strip().splitlines()
    signs = ("level=error", "level=fatal", "failed")
    complaints = [line for line in lines if any(sign in line for sign in signs)]
    return (complaints or lines or ["it wrote nothing"])[-1][-300:]

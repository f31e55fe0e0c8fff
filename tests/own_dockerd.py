"""A Docker daemon of the test's own, to kill and restart without touching the machine's.

    with OwnDockerd() as daemon:
        engine = DockerEngine(daemon.url, "test")
        daemon.kill()       # as by power loss; its containers run on until the next start
        daemon.kill_all()   # containerd too
        daemon.start()

Needs root and the dockerd binary. Everything lives in one scratch directory and under device names that
start with the same letters; leaving the context takes all of it away. The methods block: call them through
`asyncio.to_thread` where a loop must go on.

The daemon manages no packet filter: a second one that did would flush the rules of the first. So its
containers are reached from this machine, but not from elsewhere, and are not kept from each other.
"""

import contextlib
import fcntl
import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from people import wait_until

_START_S = 60.0
_STOP_S = 60.0
_ANSWER_S = 30.0
_LOOK_S = 0.05
_REMAPPED = "games"
"""A user of every Debian, whose name stands for the ranges."""
_RANGES = f"{_REMAPPED}:1100000:1000\n{_REMAPPED}:1000:1\n{_REMAPPED}:1101001:64535\n"
_CUSTOM = quote('{"type":["custom"]}')


class OwnDockerd:
    """A private dockerd with its own containerd, data, network device and socket.

    data: where it keeps images and containers; None: in its scratch directory. remapped: it maps users as
    docs/howto/root-inside.md recommends: user 1000 to itself, all others to nobody's numbers. settings: as in its
    daemon.json.
    """

    def __init__(
        self,
        *,
        data: Path | None = None,
        remapped: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.data = data
        self._settings = settings or {}
        self._remapped = remapped
        self._token = secrets.token_hex(3)
        self._bridge = f"tdk{self._token}"
        self._process: subprocess.Popen[bytes] | None = None
        self._containerd: subprocess.Popen[bytes] | None = None
        self._links: set[str] = set()
        self.folder = Path()
        self.url = ""

    def __enter__(self) -> "OwnDockerd":
        if not shutil.which("dockerd") or not shutil.which("containerd") or os.geteuid() != 0:
            raise RuntimeError("A daemon of our own needs root and Docker's daemons (Debian: docker.io).")
        self.folder = Path(tempfile.mkdtemp(prefix=f"own-dockerd-{self._token}-", dir="/tmp"))
        self.url = f"unix://{self.folder}/docker.sock"
        self._links = _pairs_here()
        self.folder.chmod(0o711)  # remapped users pass through it
        (self.folder / "daemon.json").write_text(
            json.dumps(self._settings)
        )  # so that the machine's own settings are not read
        # Without a device of its own it would take, and on the way out delete, docker0.
        _run("ip", "link", "add", "name", self._bridge, "type", "bridge")
        _run("ip", "addr", "add", f"10.214.{secrets.randbelow(250)}.1/24", "dev", self._bridge)
        _run("ip", "link", "set", self._bridge, "up")
        try:
            # It reads the ranges while it starts only.
            with _remapping() if self._remapped else contextlib.nullcontext():
                self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start it and return once it answers. Twice: no-op.

        Raises: RuntimeError with the end of its log when it does not come up.
        """
        if self._process is not None and self._process.poll() is None:
            return
        if self._containerd is None:
            self._start_containerd()
        process = self._process = self._spawn("dockerd", self._command())
        with contextlib.suppress(AssertionError):
            wait_until(
                lambda: self._answers() or process.poll() is not None, within_s=_START_S, every_s=_LOOK_S
            )
        if not self._answers():
            tail = (self.folder / "dockerd.log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"dockerd did not come up:\n{tail}")

    def _start_containerd(self) -> None:
        """Its own, and apart from it: one that dockerd starts itself does not survive that one's kill."""
        root, address = self.folder / "containerd", self.folder / "containerd.sock"
        root.mkdir(exist_ok=True)
        address.unlink(missing_ok=True)
        (root / "config.toml").write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
        options = [f"--config={root}/config.toml", f"--root={root}/root", f"--state={root}/state"]
        self._containerd = self._spawn("containerd", ["containerd", *options, f"--address={address}"])
        wait_until(address.exists, within_s=_START_S, every_s=_LOOK_S)

    def _spawn(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def stop(self) -> None:
        """Ask it to stop, which stops its containers, and wait. Twice: no-op."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the daemon at once; its containers know nothing of it. Twice: no-op."""
        self._end(signal.SIGKILL)

    def kill_all(self) -> None:
        """Kill the daemon and its containerd at once; containers and their shims are left without parents."""
        self.kill()
        if self._containerd is not None:
            self._containerd.kill()
            self._containerd.wait(_STOP_S)
            self._containerd = None

    def restart(self) -> None:
        """Stop in good order and start again."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Leave nothing behind: containers, processes, mounts, devices, files."""
        if not self._answers():
            # Killed last: only it knows which network devices it made.
            with contextlib.suppress(RuntimeError):
                self.start()
        # One that hangs is not waited for: its processes are ended below.
        with contextlib.suppress(OSError):
            self._delete_all("containers", "/containers/json?all=1", "?force=1&v=1")
            for network in self._delete_all("networks", f"/networks?filters={_CUSTOM}", ""):
                _delete_rules(network["Options"].get("com.docker.network.bridge.name", ""))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop()
        for process in self._leftovers():
            os.kill(process, signal.SIGKILL)
        if self._containerd is not None:
            self._containerd.wait(_STOP_S)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not self._leftovers(), within_s=_STOP_S, every_s=_LOOK_S)
        self._delete_stale_links()
        for mount in reversed(_mounts_under(self.folder, self.data)):
            subprocess.run(["umount", "-l", mount], capture_output=True)
        subprocess.run(["ip", "link", "del", self._bridge], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self) -> list[str]:
        return [
            "dockerd",
            f"--host={self.url}",
            f"--data-root={self.data or self.folder / 'data'}",
            f"--exec-root={self.folder}/exec",
            f"--pidfile={self.folder}/dockerd.pid",
            f"--containerd={self.folder}/containerd.sock",
            f"--bridge={self._bridge}",
            "--iptables=false",
            "--ip-masq=false",
            f"--config-file={self.folder}/daemon.json",
            *([f"--userns-remap={_REMAPPED}"] if self._remapped else ()),
        ]

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.wait(_STOP_S)
        self._process = None

    def _answers(self) -> bool:
        try:
            return self._ask("GET", "/_ping")[0] == 200
        except OSError:
            return False

    def _delete_all(self, kind: str, listing: str, options: str) -> list[Any]:
        """What was there, as the daemon listed it."""
        objects: list[Any] = json.loads(self._ask("GET", listing)[1])
        for one in objects:
            self._ask("DELETE", f"/{kind}/{one['Id']}{options}")
        return objects

    def _ask(self, method: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(_ANSWER_S)
        try:
            connection.sock.connect(self.url.removeprefix("unix://"))
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _leftovers(self) -> list[int]:
        """Processes started for this daemon: its containerd, and shims and containers that a kill left alone."""
        mine = str(self.folder).encode()
        images = [f"={place}/overlay2/".encode() for place in (self.folder / "data", self.data) if place]
        pids = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                command = (entry / "cmdline").read_bytes()
                root = (entry / "mountinfo").read_bytes().partition(b"\n")[0]
            except OSError:
                continue
            if mine in command or any(place in root for place in images):
                pids.append(int(entry.name))
        return pids

    def _delete_stale_links(self) -> None:
        """Pairs of network devices that a killed daemon made and gave to no container any more."""
        stale = _pairs_here() - self._links
        with contextlib.suppress(AssertionError):
            # Another daemon may be about to give such a pair to a container of its own.
            wait_until(lambda: not stale & _pairs_here(), within_s=1)
        for name in stale & _pairs_here():
            subprocess.run(["ip", "link", "del", name], capture_output=True)


@contextlib.contextmanager
def _remapping() -> Iterator[None]:
    """The ranges of user and group ids, in the system's files."""
    with Path("/tmp/own-dockerd-remapping.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = {path: path.read_text() for path in (Path("/etc/subuid"), Path("/etc/subgid"))}
        try:
            for path, text in before.items():
                path.write_text(text + _RANGES)
            yield
        finally:
            for path, text in before.items():
                path.write_text(text)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _pairs_here() -> set[str]:
    """Devices that are one end of a pair whose other end is on this machine too, and in no container."""
    rows = json.loads(
        subprocess.run(["ip", "-j", "link", "show", "type", "veth"], capture_output=True).stdout or "[]"
    )
    names = {row["ifname"] for row in rows}
    return {row["ifname"] for row in rows if row.get("link") in names}


def _delete_rules(device: str) -> None:
    """Packet filter rules that somebody set for a device that is gone now."""
    listed = subprocess.run(["iptables", "-t", "mangle", "-S"], capture_output=True, text=True)
    for rule in listed.stdout.splitlines():
        words = rule.split()
        if device and words[0] == "-A" and f"{device}+" in words:
            subprocess.run(["iptables", "-w", "10", "-t", "mangle", "-D", *words[1:]], capture_output=True)


def _mounts_under(*folders: Path | None) -> list[str]:
    rows = (line.split(" ") for line in Path("/proc/self/mountinfo").read_text().splitlines())
    under = tuple(f"{folder}/" for folder in folders if folder)
    return [row[4] for row in rows if row[4].startswith(under)]

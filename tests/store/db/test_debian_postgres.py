"""One's own PostgreSQL: Debian's runs the migrations, and a session's life through the API."""

import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from installation import installation
from session_kit import SMALL

from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.migrate import migrate
from carrel.permissions.decide import Actor
from carrel.signin.keypairs import service as keypairs
from carrel.tenancy import service as tenancy

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture
def debian_server(open_dir: Path) -> Iterator[str]:
    """The URL of a server of Debian's package, with its own defaults and a zone of its own."""
    assert PROGRAMS, "Debian's postgresql is not installed; `./carrel test` brings it"
    programs, root = PROGRAMS[-1].parent, open_dir / "debian"
    owner = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    root.mkdir()
    os.chown(root, owner.pw_uid, owner.pw_gid)

    def run(*command: str | Path) -> None:
        subprocess.run(
            [str(word) for word in command],
            check=True,
            cwd=root,
            stdout=subprocess.DEVNULL,
            **(
                {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
            ),
        )

    data = root / "data"
    run(programs / "initdb", "-D", data, "-U", "carrel", "--auth=trust", "--encoding=UTF8", "--no-sync")
    with (data / "postgresql.conf").open("a") as conf:
        conf.write("timezone = 'Asia/Seoul'\n")
    options = f"-k {root} -c listen_addresses=''"
    run(programs / "pg_ctl", "-w", "-s", "-D", data, "-l", root / "log", "-o", options, "start")
    yield f"postgresql://carrel@/postgres?host={str(root).replace('/', '%2F')}"
    run(programs / "pg_ctl", "-w", "-s", "-m", "immediate", "-D", data, "stop")


async def test_debians_postgresql_carries_a_session_through_its_life(debian_server: str, tmp_path: Path):
    with psycopg.connect(debian_server) as connection:
        assert connection.info.server_version // 10_000 == int(PROGRAMS[-1].parts[-3])
    migrate(debian_server)
    database = Database(debian_server)
    async with database.transaction() as tx:
        await tenancy.bootstrap(tx, SystemClock(), email="user@example.org", password="correct horse 9")
    people = _OnePerson(await _actor(database))
    async with installation(database, people, tmp_path, controllers=True) as api:  # type: ignore[arg-type]
        user = await api.as_("user")
        made = await user.start(name="desk", env={"A": "한국어"})
        assert made["created_at"].endswith("+00:00")
        await api.until(user, made["id"], "RUNNING")
        listed = (await user.get("/sessions", params={"state": "live", "q": "desk"})).json()["items"]
        assert [item["id"] for item in listed] == [made["id"]]
        await user.delete(f"/sessions/{made['id']}")
        ended = await api.until(user, made["id"], "TERMINATED")
        assert (ended["env"], ended["slots"]) == ({"A": "한국어"}, SMALL)
        events = (await user.get("/events")).json()["items"]
        assert events[0]["data"]["state"] == "TERMINATED"
        assert api.engine.world.containers == {}
        await user.patch(f"/sessions/{made['id']}", {"name": "other"})
    await database.close()


class _OnePerson:
    def __init__(self, user: Actor) -> None:
        self.user = user


async def _actor(database: Database) -> Actor:
    async with database.transaction() as tx:
        user = await tenancy.user_by_email(tx, "user@example.org")
        assert user is not None
        actor = await tenancy.actor_of(tx, user, credential="test", address="")
        await keypairs.create(tx, SystemClock(), actor)
    return actor

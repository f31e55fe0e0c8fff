"""The operator's commands on an installation of two engines, real daemons both."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiodocker
import pytest
from crash.place import Place
from crash.supervised import Supervised
from databases import sql
from own_dockerd import OwnDockerd
from people import eventually
from sqlalchemy import text
from tiny_image import docker_url, ensure_tiny_image

from carrel.core.errors import Conflict
from carrel.core.ids import new_id
from carrel.db.database import Database
from carrel.engines.conformance_kit import ProgressLog
from carrel.engines.docker import DockerEngine
from carrel.engines.port import Claimant, ContainerSpec
from carrel.nodes.engines.connections import label_of
from carrel.server import adoption, engines
from carrel.server.adoption import Mode
from carrel.server.claim import claimant
from carrel.server.settings import Settings
from carrel.tables.engines import EngineRow

CARREL = Path(sys.executable).with_name("carrel")
STARTER = "localhost/carrel/starter:test"
ORIGINAL = Claimant("1111", "/var/lib/carrel on alpha")


@pytest.fixture(scope="module")
def second() -> Iterator[OwnDockerd]:
    with OwnDockerd() as daemon:
        yield daemon


class Operator:
    """Somebody at the command line of an installation with the engines `local` and `second`."""

    def __init__(self, place: Place, second: OwnDockerd, label: str) -> None:
        assert isinstance(place.plane, Supervised)
        self.place = place
        self.plane = place.plane
        self.second = second
        self.label = label

    def run(self, command: str, *options: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
        words = [CARREL, command, "--data-dir", self.plane.folder, *options]
        done = subprocess.run(words, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def engine_states(self, code: int) -> dict[str, str]:
        lines = json.loads(self.run("status", "-o", "json", code=code).stdout)
        return {line["part"]: line["state"] for line in lines if line["part"].startswith("engine")}

    async def session(self, engine: str) -> str:
        nodes = await self.place.client.get("/nodes")
        [node] = [one["name"] for one in nodes["items"] if one["engine"]["name"] == engine]
        session = await self.place.client.create(new_id(), self.place.image, node=f"{node}@{engine}")
        await eventually(lambda: self._runs(session), within_s=60)
        return session

    async def _runs(self, session: str) -> bool:
        return self.place.states()[session] == "RUNNING"

    async def left_in_second(self) -> list[str]:
        """Names of its containers, networks and volumes there, and of the images of Carrel."""
        chosen = {"label": [f"carrel.installation={self.label}"]}
        async with aiodocker.Docker(url=self.second.url) as docker:
            containers = await docker.containers.list(all=True, filters=json.dumps(chosen))
            networks = await docker.networks.list(filters=chosen)
            volumes = (await docker.volumes.list(filters=chosen))["Volumes"] or []
            images = [tag for one in await docker.images.list() for tag in one.get("RepoTags") or ()]
        return [
            *("container" for _ in containers),
            *("network" for _ in networks),
            *("volume" for _ in volumes),
            *(tag for tag in images if tag == STARTER),
        ]


@pytest.fixture
async def operator(supervised: Place, second: OwnDockerd) -> AsyncIterator[Operator]:
    image = await ensure_tiny_image(url=second.url)
    async with aiodocker.Docker(url=second.url) as docker:
        await docker.images.tag(image, repo=STARTER.rpartition(":")[0], tag="test")
    added = {"name": "second", "kind": "docker", "settings": {"url": second.url}}
    engine = await supervised.client.post("/engines", added)
    assert isinstance(supervised.plane, Supervised)
    operator = Operator(supervised, second, label_of(supervised.plane.installation, engine["id"]))

    async def ready() -> bool:
        shown = await supervised.client.get("/engines/second")
        return bool(shown["state"] == "READY" and shown["nodes"])

    await eventually(ready, within_s=60)
    yield operator
    await asyncio.to_thread(second.start)
    sweeper = DockerEngine(second.url, operator.label)
    await sweeper.purge()
    await sweeper.close()


async def test_status_names_each_engine_with_its_state(operator: Operator) -> None:
    assert operator.engine_states(code=0) == {"engine": "ok", "engine second": "ok"}
    await asyncio.to_thread(operator.second.kill)

    async def down() -> bool:
        shown = await operator.place.client.get("/engines/second")
        return bool(shown["state"] == "DOWN")

    await eventually(down, within_s=60)
    assert operator.engine_states(code=5) == {"engine": "ok", "engine second": "down"}
    operator.plane.kill_supervisor()
    assert operator.engine_states(code=5)["engine second"] == "unknown"


async def test_down_takes_networks_from_every_engine_that_no_session_needs(operator: Operator) -> None:
    await operator.session("second")
    assert await operator.left_in_second() == ["container", "network", "volume", STARTER]
    output = operator.run("down").stdout
    assert "Carrel is stopped. No session runs: its network" in output
    assert "second: 1 session goes on" in output
    assert await operator.left_in_second() == ["container", "network", "volume", STARTER]
    # Started and stopped again, with the session ended meanwhile.
    await operator.plane.start_again()
    [session] = operator.place.states()
    await operator.place.client.remove(session)
    await operator.place.comes_to_rest()
    output = operator.run("down").stdout
    assert "second: No session runs: its network" in output
    assert await operator.left_in_second() == ["volume", STARTER]


async def test_uninstall_clears_every_engine_and_names_what_it_cannot_reach(operator: Operator) -> None:
    await operator.session("second")
    # 1. One that is away is named, with what would stay there.
    await asyncio.to_thread(operator.second.kill)
    refused = operator.run("uninstall", "--keep-checkout", "--force", code=2)
    going, _, staying = refused.stdout.partition("This stays:")
    assert operator.label not in going
    assert f"whatever is labelled {operator.label} in the engine second (1 session container," in staying
    # 2. Sessions of any engine keep it from going.
    await asyncio.to_thread(operator.second.start)
    refused = operator.run("uninstall", "--keep-checkout", "--yes", code=2)
    assert "(setup.sessions_run)" in refused.stderr
    assert "1 session container in the engine second" in refused.stdout
    # 3. It goes from all of them.
    operator.run("uninstall", "--keep-checkout", "--yes", "--force")
    assert await operator.left_in_second() == []


class Moved:
    """A database of two engines, the second held by its original or by nobody, started from here."""

    def __init__(self, settings: Settings, database: Database, engines: dict[str, DockerEngine]) -> None:
        self.settings = settings
        self.database = database
        self.engines = engines
        self.messages: list[str] = []

    async def start(self, mode: Mode) -> None:
        await adoption.settle(
            self.settings, self.database, mode, former_data_dir=None, say=self.messages.append
        )

    async def holders(self) -> dict[str, str]:
        us = claimant(self.settings).fingerprint
        holder_of = {name: await engine.claim.holder() for name, engine in self.engines.items()}
        return {
            name: "us" if holder.fingerprint == us else holder.place
            for name, holder in holder_of.items()
            if holder
        }


@pytest.fixture
async def moved(database: Database, second: OwnDockerd, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Makes one; `held`: names of the engines that its original holds."""
    async with AsyncExitStack() as stack:

        async def make(*held: str, ours: tuple[str, ...] = ()) -> Moved:
            label = f"moved-{new_id()[-8:]}"
            async with database.transaction() as tx:
                await tx.execute(text("UPDATE site SET label = :label"), {"label": label})
                tx.add(EngineRow(id="e2", name="second", kind="docker", settings={"url": second.url}))
            settings = Settings(data_dir=tmp_path, database_url=database.url, engine_url=docker_url())
            urls = {"local": docker_url(), "second": second.url}
            engines = {}
            for name, url in urls.items():
                marked = label if name == "local" else label_of(label, "e2")
                engines[name] = DockerEngine(url, marked)
                stack.push_async_callback(engines[name].close)
                stack.push_async_callback(engines[name].purge)
                if name in held or name in ours:
                    holder = ORIGINAL if name in held else claimant(settings)
                    await DockerEngine(url, marked, claimant=holder).claim.require()
            return Moved(settings, database, engines)

        yield make


async def test_a_copy_is_found_out_by_any_engine_and_claims_none(moved: Callable[..., Any]) -> None:
    copy = await moved("second")
    with pytest.raises(Conflict, match="belong to /var/lib/carrel on alpha"):
        await copy.start(Mode.PLAIN)
    assert await copy.holders() == {"second": ORIGINAL.place}


async def test_adoption_takes_every_engine_over(
    moved: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "ANSWERS_WITHIN_S", 1.0)
    heir = await moved("local", "second")
    await heir.start(Mode.ADOPT)
    assert await heir.holders() == {"local": "us", "second": "us"}
    await heir.start(Mode.PLAIN)


async def test_adoption_is_refused_while_the_original_answers_in_one_engine(
    moved: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "ANSWERS_WITHIN_S", 10.0)
    heir = await moved("local", "second")
    original = DockerEngine(
        heir.settings.engine_url, heir.engines["local"]._names.installation, claimant=ORIGINAL
    )
    adopting = asyncio.create_task(heir.start(Mode.ADOPT))

    async def is_over_while_it_answers() -> bool:
        await original.claim.answer()
        return adopting.done()

    await eventually(is_over_while_it_answers, every_s=0.1)
    await original.close()
    with pytest.raises(Conflict, match="still running"):
        await adopting
    assert await heir.holders() == {"local": ORIGINAL.place, "second": ORIGINAL.place}


async def test_what_another_one_holds_in_one_engine_keeps_no_installation_from_starting(
    moved: Callable[..., Any],
) -> None:
    mine = await moved("second", ours=("local",))
    await mine.start(Mode.PLAIN)
    assert "second: the label" in mine.messages[0]
    assert await mine.holders() == {"local": "us", "second": ORIGINAL.place}


async def test_a_copy_that_held_a_label_somewhere_leaves_nothing_under_it(
    moved: Callable[..., Any], database: Database
) -> None:
    copy = await moved("second", ours=("local",))
    spec = ContainerSpec(new_id(), await ensure_tiny_image(), {"cpu": 100, "mem": 64 << 20})
    await copy.engines["local"].ensure(spec, ProgressLog())
    await copy.start(Mode.AS_COPY)
    assert await copy.holders() == {"second": ORIGINAL.place}
    assert await copy.engines["local"].list() == ()
    # Under its new label everything is free.
    await copy.start(Mode.PLAIN)


async def test_each_engine_is_claimed_by_a_plain_start(moved: Callable[..., Any]) -> None:
    fresh = await moved()
    await fresh.start(Mode.PLAIN)
    assert await fresh.holders() == {"local": "us", "second": "us"}
    await fresh.start(Mode.AS_COPY)
    assert fresh.messages == ["This installation has a label of its own already."]


async def test_before_its_schema_is_brought_up_an_installation_has_the_local_engine(
    database: Database, tmp_path: Path
) -> None:
    await sql(database, "ALTER TABLE engines RENAME TO engines_of_a_later_version")
    settings = Settings(data_dir=tmp_path, database_url=database.url, engine_url=docker_url())
    [local] = await engines.installed(settings, database)
    assert (local.name, local.is_local) == ("local", True)
    assert await local.ask(lambda engine: engine.list()) == ()

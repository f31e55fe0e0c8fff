"""Checks of accelerators with real containers: of simulated machines, with a stand-in for the driver library of NVIDIA.

Nothing here runs on hardware.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiodocker
import pytest
from controller_kit import tools
from databases import sql
from fake_gpus import FakeGpus
from installation import only
from people import People, eventually
from simulated_accelerators import driver, tree
from tiny_image import docker_url, ensure_tiny_image

from carrel.accelerators.amd import Amd
from carrel.accelerators.driver import Vendor
from carrel.accelerators.furiosa import Furiosa
from carrel.accelerators.gaudi import Gaudi
from carrel.accelerators.graphcore import Graphcore
from carrel.accelerators.groq import Groq
from carrel.accelerators.hyperaccel import HyperAccel
from carrel.accelerators.nvidia import Nvidia
from carrel.accelerators.pci import SAPEON, ConfiguredCards
from carrel.accelerators.port import Accelerators, Attachment
from carrel.accelerators.rebellions import Rebellions
from carrel.accelerators.sambanova import SambaNova
from carrel.accelerators.tenstorrent import Tenstorrent
from carrel.controllers.device_checks import AcceleratorChecks
from carrel.core.clock import SystemClock
from carrel.db.database import Database
from carrel.db.leader import Leader, lead
from carrel.engines.docker import DockerEngine
from carrel.nodes import service as nodes
from carrel.nodes.accelerator_checks import service
from carrel.nodes.accelerator_checks.schemas import AcceleratorCheckCreate, AcceleratorCheckView, DeviceResult

GIB = 1 << 30
FREE = "SELECT count(*) FROM accelerator_checks WHERE ended_at IS NULL OR containers <> '{}'"


@pytest.fixture
async def leader(database: Database) -> AsyncIterator[Leader]:
    leading = await lead(database.url)
    yield leading
    await leading.resign()


class Checked:
    """A machine with accelerators, with its control plane and its engine."""

    def __init__(self, database: Database, people: People, leader: Leader, engine: DockerEngine) -> None:
        self.database, self.people, self.engine = database, people, engine
        self.tools = replace(tools(database, leader), engines=only(database, engine))
        self.image = ""

    async def join(self) -> None:
        self.image = await ensure_tiny_image()
        async with self.database.transaction() as tx:
            await nodes.record(tx, await self.engine.nodes(), SystemClock().now())

    async def enforce_shares(self) -> None:
        """As far as its node says."""
        await sql(self.database, 'UPDATE nodes SET sharing = \'{"tier": "slice", "reason": ""}\'')

    async def request(self, device: str | None = None) -> AcceleratorCheckView:
        [(node,)] = await sql(self.database, "SELECT name FROM nodes")
        body = AcceleratorCheckCreate(node=node, device=device, image=self.image)
        async with self.database.transaction() as tx:
            return await service.request(tx, SystemClock(), self.people.superadmin, body)

    async def shown(self, check: str) -> AcceleratorCheckView:
        async with self.database.transaction() as tx:
            return await service.show(tx, self.people.superadmin, check)

    async def check(self, device: str | None = None) -> AcceleratorCheckView:
        requested = await self.request(device)
        controller = AcceleratorChecks(self.tools)
        await controller.step()
        await controller.drain()
        assert await self.engine.list() == ()
        assert await sql(self.database, FREE) == [(0,)]
        return await self.shown(requested.id)


@pytest.fixture
def checked(database: Database, people: People, leader: Leader, installation: str, tmp_path: Path):  # type: ignore[no-untyped-def]
    tmp_path.chmod(0o755)

    @asynccontextmanager
    async def make(accelerators: Accelerators) -> AsyncIterator[Checked]:
        engine = DockerEngine(docker_url(), installation, accelerators=[accelerators])
        try:
            subject = Checked(database, people, leader, engine)
            await subject.join()
            yield subject
        finally:
            await engine.purge()
            await engine.close()

    return make


def outcomes(result: DeviceResult) -> dict[str, str]:
    return {str(one.name): str(one.outcome) for one in result.measures}


@pytest.mark.parametrize(
    ("vendor", "description", "numbered"),
    [
        (Nvidia, "h100x2", "passed"),
        (Gaudi, "gaudi3x2", "not_measured"),
        (Amd, "mi300xx2", "passed"),
        (Furiosa, "rngdx2", "not_measured"),
        (Furiosa, "warboyx2", "not_measured"),
        (Rebellions, "atom-plusx2", "not_measured"),
        (Tenstorrent, "n300x2", "not_measured"),
        (Graphcore, "c600x2", "not_measured"),
        (Groq, "groqcardx2", "not_measured"),
        (HyperAccel, "u55c-lpux2", "not_measured"),
        (lambda: ConfiguredCards({"sapeon": SAPEON}), "x330x2", "not_measured"),
    ],
    ids=[
        "nvidia",
        "gaudi",
        "amd",
        "rngd",
        "warboy",
        "rebellions",
        "tenstorrent",
        "graphcore",
        "groq",
        "hyperaccel",
        "pci",
    ],
)
async def test_each_device_of_a_machine_is_seen_by_its_own_container_only(
    checked, vendor: Callable[[], Vendor], description: str, numbered: str, tmp_path: Path
) -> None:
    async with checked(driver(vendor(), tree(tmp_path, description))) as subject:
        check = await subject.check()
    assert (check.state, check.problem, check.outcome) == ("done", "", "passed")
    assert len(check.results) >= 2
    for result in check.results:
        assert outcomes(result) == {
            "granted": "passed",
            "isolated": "passed",
            "numbered": numbered,
            "counted": "not_measured",
        }, result
        assert result.files, result


async def test_a_single_device_has_nothing_to_be_compared_with(checked, tmp_path: Path) -> None:
    async with checked(driver(SambaNova(), tree(tmp_path, "sn30x8"))) as subject:
        check = await subject.check()
    [result] = check.results
    assert (check.outcome, outcomes(result)["isolated"]) == ("passed", "not_measured")


async def test_a_device_that_another_container_sees_too_fails(checked, tmp_path: Path) -> None:
    class Leaking:
        """Gives the container of the first device everything."""

        def __init__(self) -> None:
            self.discover, self.kinds = gpus.discover, gpus.kinds

        def attach(self, held: dict[str, int]) -> Attachment:
            first, *others = [device.id for device in gpus.discover()]
            return gpus.attach(dict.fromkeys([first, *others], 1000) if first in held else held)

    gpus = driver(Nvidia(), tree(tmp_path, "h100x2"))
    async with checked(Leaking()) as subject:
        check = await subject.check()
    first, second = check.results
    assert (check.outcome, first.outcome, second.outcome) == ("failed", "failed", "failed")
    assert outcomes(first)["numbered"] == "failed"
    assert outcomes(second)["isolated"] == "failed"


async def test_the_limit_of_a_share_is_reached_and_the_neighbour_measured(checked, tmp_path: Path) -> None:
    async with checked(FakeGpus(tmp_path, "h100x1")) as subject:
        await subject.enforce_shares()
        check = await subject.check()
    [result] = check.results
    assert outcomes(result)["counted"] == "passed"
    assert [(one.thousandths, one.outcome) for one in result.shares] == [(250, "passed"), (500, "passed")]
    for share in result.shares:
        assert share.limit_bytes
        assert share.allocated_bytes
        assert share.allocated_bytes == pytest.approx(share.limit_bytes, rel=0.05)
        # The stand-in lets one kernel run at a time.
        assert share.neighbour_loss_percent is not None
        assert 20 < share.neighbour_loss_percent < 80


async def test_a_limit_that_is_not_kept_fails(checked, tmp_path: Path) -> None:
    gpus = FakeGpus(tmp_path, "h100x1", enforced=False)
    gpus.count = 2
    async with checked(gpus) as subject:
        await subject.enforce_shares()
        check = await subject.check()
    [result] = check.results
    assert (result.outcome, outcomes(result)["counted"]) == ("failed", "failed")
    assert [share.outcome for share in result.shares] == ["failed", "failed"]
    assert "more memory than its share" in result.shares[0].text


async def test_shares_that_the_node_does_not_enforce_are_not_measured(checked, tmp_path: Path) -> None:
    async with checked(FakeGpus(tmp_path, "h100x1", enforced=False)) as subject:
        check = await subject.check()
    [result] = check.results
    assert result.outcome == "passed"
    assert [share.outcome for share in result.shares] == ["not_measured", "not_measured"]
    assert result.shares[0].text == "Shares are not enforced on this node."


async def test_what_needs_a_driver_library_is_not_measured_without_it(checked, tmp_path: Path) -> None:
    async with checked(driver(Nvidia(shares=True), tree(tmp_path, "h100x1"))) as subject:
        await subject.enforce_shares()
        check = await subject.check()
    [result] = check.results
    assert result.outcome == "passed"
    for share in result.shares:
        assert share.outcome == "not_measured"
        assert (share.allocated_bytes, share.neighbour_loss_percent) == (None, None)
        assert share.text == "The image has no Python 3."


async def test_a_killed_check_is_begun_again_and_leaves_nothing(
    checked, docker: aiodocker.Docker, tmp_path: Path
) -> None:
    async with checked(driver(Nvidia(), tree(tmp_path, "h100x2"))) as subject:
        requested = await subject.request()
        first = AcceleratorChecks(subject.tools)
        await first.step()

        async def has_containers() -> bool:
            return len(await subject.engine.list()) >= 2

        await eventually(has_containers)
        # As if it was killed: its containers run, and the ledger still has its devices.
        await first.close()
        before = {one.id for one in await subject.engine.list()}
        assert len(before) >= 2
        assert await sql(subject.database, "SELECT cardinality(taken) FROM accelerator_checks") == [(2,)]
        second = AcceleratorChecks(subject.tools)
        await second.step()
        await second.drain()
        assert await subject.engine.list() == ()
        check = await subject.shown(requested.id)
    assert (check.state, check.outcome) == ("done", "passed")

"""What containers with shares of accelerators need outside of them, while others are created, started and removed."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from people import eventually

from carrel.accelerators.port import NOTHING, Attachment, Device, Holders, ShareTier, Sharing
from carrel.core.slots import SlotKind
from carrel.engines import barrier
from carrel.engines.docker.api import DockerApi
from carrel.engines.docker.container_config import LABEL_DEVICES, LABEL_ID, LABEL_SHARES, Names
from carrel.engines.docker.device_shares import Shared, Shares
from carrel.engines.port import ContainerSpec, EngineError


class Dividing:
    """Accelerators that note what they keep. failed: of which devices they do not. goes: unset while the tool hangs."""

    def __init__(self, device: str = "gpu", tier: ShareTier = ShareTier.MPS3) -> None:
        self.device, self.tier = device, tier
        self.enforced: list[ShareTier] = []
        self.kept: list[Holders] = []
        self.failed: Mapping[str, str] = {}
        self.goes = threading.Event()
        self.goes.set()

    def discover(self) -> Sequence[Device]:
        return [Device(self.device, "cuda")]

    def kinds(self) -> Sequence[SlotKind]:
        return ()

    def attach(self, held: Mapping[str, int]) -> Attachment:
        return NOTHING

    def sharing(self) -> Sharing | None:
        return Sharing(self.tier)

    def share(self, container: str, held: Mapping[str, int]) -> Attachment | None:
        return NOTHING if self.device in held else None

    def keep(self, holders: Holders) -> Mapping[str, str]:
        self.goes.wait(10)
        self.kept.append(holders)
        return self.failed

    def enforce(
        self, container: str, held: Mapping[str, int], tier: ShareTier, pid: int, engine_id: str
    ) -> None:
        self.enforced.append(tier)


class Daemon:
    """Lists these containers with half of a GPU. tier: in their labels. lists: unset while it does not answer."""

    def __init__(self, *containers: str, tier: str = "mps3", state: str = "running") -> None:
        self.containers, self.state = list(containers), state
        self.labels = {LABEL_SHARES: tier, LABEL_DEVICES: '{"gpu": [500, null]}'}
        self.calls = 0
        self.lists = asyncio.Event()
        self.lists.set()

    async def call(self, method: str, path: str, *, params: Mapping[str, str]) -> Any:
        self.calls += 1
        there = list(self.containers)
        await self.lists.wait()
        return [
            {"State": self.state, "Labels": self.labels | {LABEL_ID: id}}
            for id in there
            if f"{LABEL_ID}=" not in params["filters"] or f"{LABEL_ID}={id}" in params["filters"]
        ]


def shares_of(daemon: Daemon) -> Shares:
    return Shares(cast(DockerApi, daemon), Names("test"))


def spec_of(container: str, device: str = "gpu") -> ContainerSpec:
    return ContainerSpec(container, "image", {}, {device: 500})


async def test_what_is_created_while_containers_are_listed_is_kept() -> None:
    daemon, one = Daemon(), Dividing()
    shares = shares_of(daemon)
    with shares.starting("c1"):
        await shares.prepare([one], spec_of("c1"))
        daemon.lists.clear()
        keeping = asyncio.create_task(shares.keep([one]))
        await eventually(lambda: daemon.calls == 3)
    daemon.lists.set()
    await keeping
    assert [set(holders[ShareTier.MPS3]) for holders in one.kept] == [{"c1"}, {"c1"}]


async def test_a_start_fails_only_for_devices_of_its_own() -> None:
    one, other = Dividing(), Dividing("npu")
    one.failed = {"gpu": "It is lost."}
    shares = shares_of(Daemon())
    await shares.prepare([one, other], spec_of("c1", "npu"))
    with pytest.raises(EngineError, match="It is lost"):
        await shares.prepare([one, other], spec_of("c2"))


@pytest.mark.parametrize(
    ("made", "now"), [("slice", ShareTier.NONE), ("mps3", ShareTier.SLICE), ("mps3", ShareTier.NONE)]
)
async def test_a_container_whose_tier_is_gone_is_not_started_again(made: str, now: ShareTier) -> None:
    shares = shares_of(Daemon("c1", tier=made, state="exited"))
    with pytest.raises(EngineError, match=f"no longer enforces shares by {made}") as refused:
        await shares.prepare([Dividing(tier=now)], spec_of("c1"))
    assert refused.value.retriable


async def test_a_container_that_was_made_without_mps_starts_again_beside_it() -> None:
    one, shares = Dividing(), shares_of(Daemon("c1", tier="slice", state="exited"))
    one.failed = {"gpu": "Sessions share it."}
    shared = await shares.prepare([one], spec_of("c1"))
    assert shared == Shared("slice", NOTHING)
    assert [set(holders) for holders in one.kept] == [{ShareTier.SLICE}]
    inspected = {"Config": {"Labels": {LABEL_SHARES: "slice"}}, "State": {"Pid": 1}, "Id": "id"}
    await shares.enforce([one], replace(spec_of("c1"), command=barrier.behind(("true",))), inspected)
    assert one.enforced == [ShareTier.SLICE]


async def test_containers_with_shares_that_nothing_enforces_are_known() -> None:
    one, daemon = Dividing(), Daemon("c1", tier="", state="exited")
    del daemon.labels[LABEL_SHARES]
    shares = shares_of(daemon)
    await shares.keep([one])
    one.failed = {"gpu": "Sessions share it."}
    assert await shares.prepare([one], spec_of("c1")) is None
    assert one.kept == [{ShareTier.NONE: {"c1": {"gpu": 500}}}] * 2
    daemon.labels[LABEL_DEVICES] = '{"gpu": [1000, null]}'
    await shares_of(daemon).keep([one])
    assert one.kept[-1] == {}


async def test_only_the_removal_of_containers_with_mps_changes_it() -> None:
    one, shares = Dividing(), shares_of(Daemon("c1", "c2"))
    await shares.keep([one])
    await shares.leave("without-shares")
    assert len(one.kept) == 1
    await shares.leave("c1")
    assert [set(holders[ShareTier.MPS3]) for holders in one.kept] == [{"c1", "c2"}, {"c2"}]


async def test_after_a_failure_only_starts_try_again_at_once() -> None:
    one, shares = Dividing(), shares_of(Daemon("c1", "c2"))
    one.failed = {"gpu": "The tool hangs."}
    await shares.keep([one])
    await shares.leave("c1")
    await shares.keep([one])
    assert len(one.kept) == 1
    with pytest.raises(EngineError, match="The tool hangs"):
        await shares.prepare([one], spec_of("c3"))
    assert len(one.kept) == 2


async def test_devices_that_fail_are_known_also_while_the_tool_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    one, shares = Dividing(), shares_of(Daemon("c1"))
    one.failed = {"gpu": "It is lost."}
    assert await shares.keep([one]) == one.failed
    monkeypatch.setattr("carrel.engines.docker.device_shares._PAUSE_S", 0)
    monkeypatch.setattr("carrel.engines.docker.device_shares._WAIT_S", 0.05)
    one.goes.clear()
    assert await shares.keep([one]) == one.failed
    one.goes.set()
    await shares.close()


async def test_a_tool_that_hangs_does_not_delay_the_answer_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.engines.docker.device_shares._WAIT_S", 0.05)
    one, shares = Dividing(), shares_of(Daemon("c1"))
    one.goes.clear()
    for _ in range(3):
        await shares.keep([one])
    assert one.kept == []
    one.goes.set()
    await eventually(lambda: one.kept)
    assert len(one.kept) == 1
    await shares.close()

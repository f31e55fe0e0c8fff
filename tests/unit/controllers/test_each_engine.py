"""Work on every engine side by side."""

import asyncio
from collections import Counter

import pytest

from carrel.controllers import each_engine
from carrel.controllers.each_engine import EachEngine
from carrel.core.ids import EngineId
from carrel.engines.port import EngineUnavailable

A, B = EngineId("a"), EngineId("b")


class Known:
    def __init__(self, *engines: EngineId) -> None:
        self.now = frozenset(engines)

    async def ids(self) -> frozenset[EngineId]:
        return self.now


class Work:
    """Counts its calls; of an engine in `held` it does not return, of one in `failing` it raises."""

    def __init__(self) -> None:
        self.calls: Counter[EngineId] = Counter()
        self.held: dict[EngineId, asyncio.Event] = {}
        self.failing: dict[EngineId, Exception] = {}
        self.cancelled: list[EngineId] = []

    async def __call__(self, engine: EngineId) -> None:
        self.calls[engine] += 1
        try:
            if engine in self.held:
                await self.held[engine].wait()
        except asyncio.CancelledError:
            self.cancelled.append(engine)
            raise
        if engine in self.failing:
            raise self.failing[engine]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(each_engine, "_PATIENCE_S", 0.01)


async def test_one_that_hangs_holds_up_no_other_and_is_asked_again_once_it_returns():
    work = Work()
    hung = work.held[A] = asyncio.Event()
    every = EachEngine(Known(A, B), work)
    for _ in range(3):
        await every.step()
    assert work.calls == {A: 1, B: 3}
    hung.set()
    await every.step()
    assert work.calls == {A: 2, B: 4}
    await every.close()


async def test_one_that_is_removed_is_left_alone():
    work, known = Work(), Known(A, B)
    work.held[A] = asyncio.Event()
    every = EachEngine(known, work)
    await every.step()
    known.now = frozenset({B})
    await every.step()
    assert (work.cancelled, work.calls) == ([A], {A: 1, B: 2})
    await every.close()


async def test_an_error_of_ours_comes_before_an_engine_that_does_not_answer_and_stops_no_other():
    work = Work()
    work.failing = {A: EngineUnavailable("gone"), B: RuntimeError("ours")}
    every = EachEngine(Known(A, B), work)
    with pytest.raises(RuntimeError, match="ours"):
        await every.step()
    work.failing = {A: EngineUnavailable("gone")}
    with pytest.raises(EngineUnavailable):
        await every.step()
    work.failing = {}
    await every.step()
    assert work.calls == {A: 3, B: 3}


async def test_what_hung_and_failed_is_reported_by_the_next_step():
    work = Work()
    hung = work.held[A] = asyncio.Event()
    work.failing = {A: RuntimeError("late")}
    every = EachEngine(Known(A, B), work)
    await every.step()
    hung.set()
    with pytest.raises(RuntimeError, match="late"):
        await every.step()

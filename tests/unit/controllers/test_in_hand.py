"""Work beside a controller's steps: once for each key, and none of it after it was stopped."""

import asyncio

from carrel.controllers.in_hand import InHand


class Job:
    """Runs until it is let go or cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.let_go, self.started, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(self) -> None:
        self.begun += 1
        self.started.set()
        try:
            await self.let_go.wait()
        finally:
            self.over.set()


async def test_a_key_has_one_task_at_a_time():
    in_hand, job, other = InHand[str](), Job(), Job()
    in_hand.begin("a", job.work, about="first")
    in_hand.begin("a", other.work, about="second")
    await job.started.wait()
    assert (job.begun, other.begun, in_hand.about("a"), in_hand.about("b")) == (1, 0, "first", None)
    assert "a" in in_hand
    assert list(in_hand) == ["a"]
    await in_hand.close()


async def test_what_has_ended_can_begin_again():
    in_hand, job = InHand[str](), Job()
    job.let_go.set()
    for _ in range(2):
        in_hand.begin("a", job.work)
        await in_hand.drain()
        assert "a" not in in_hand
    assert job.begun == 2


async def test_nothing_goes_on_after_a_stop_and_the_key_is_free_at_once():
    in_hand, job, other = InHand[str](), Job(), Job()
    in_hand.begin("a", job.work)
    await job.started.wait()
    await in_hand.stop("a")
    assert job.over.is_set()
    in_hand.begin("a", other.work, about="again")
    assert in_hand.about("a") == "again"
    await in_hand.stop("a")
    await in_hand.stop("a")
    assert "a" not in in_hand


async def test_work_that_is_stopped_before_it_began_never_begins():
    in_hand, job = InHand[str](), Job()
    in_hand.begin("a", job.work)
    await in_hand.stop("a")
    assert (job.begun, "a" in in_hand) == (0, False)


async def test_draining_waits_for_work_that_begins_meanwhile():
    in_hand, job, later = InHand[str](), Job(), Job()
    later.let_go.set()

    async def first() -> None:
        await job.work()
        in_hand.begin("b", later.work)

    in_hand.begin("a", first)
    draining = asyncio.create_task(in_hand.drain())
    await job.started.wait()
    assert not draining.done()
    job.let_go.set()
    await draining
    assert later.begun == 1


async def test_closing_ends_all_of_it_side_by_side():
    in_hand, jobs = InHand[int](), [Job() for _ in range(3)]
    for number, job in enumerate(jobs):
        in_hand.begin(number, job.work)
    await asyncio.gather(*(job.started.wait() for job in jobs))
    await in_hand.close()
    assert all(job.over.is_set() for job in jobs)
    assert list(in_hand) == []
    await in_hand.close()


async def test_what_takes_long_is_waited_for_no_longer_than_asked():
    in_hand, fast, slow, other = InHand[str](), Job(), Job(), Job()
    fast.let_go.set()
    for key, job in (("fast", fast), ("slow", slow), ("other", other)):
        in_hand.begin(key, job.work)
    await in_hand.wait(["fast", "unknown"], timeout_s=60)
    assert (fast.over.is_set(), list(in_hand)) == (True, ["slow", "other"])
    await in_hand.wait(["fast", "slow"], timeout_s=0.01)
    assert list(in_hand) == ["slow", "other"]
    await in_hand.close()

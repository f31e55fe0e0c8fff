"""Work beside a controller's steps: once for each key, and none of it after it was stopped."""

import asyncio

from carrel.controllers.active_tasks import ActiveTasks


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
    active_tasks, job, other = ActiveTasks[str](), Job(), Job()
    active_tasks.begin("a", job.work, about="first")
    active_tasks.begin("a", other.work, about="second")
    await job.started.wait()
    assert (job.begun, other.begun, active_tasks.about("a"), active_tasks.about("b")) == (1, 0, "first", None)
    assert "a" in active_tasks
    assert list(active_tasks) == ["a"]
    await active_tasks.close()


async def test_what_has_ended_can_begin_again():
    active_tasks, job = ActiveTasks[str](), Job()
    job.let_go.set()
    for _ in range(2):
        active_tasks.begin("a", job.work)
        await active_tasks.drain()
        assert "a" not in active_tasks
    assert job.begun == 2


async def test_nothing_goes_on_after_a_stop_and_the_key_is_free_at_once():
    active_tasks, job, other = ActiveTasks[str](), Job(), Job()
    active_tasks.begin("a", job.work)
    await job.started.wait()
    await active_tasks.stop("a")
    assert job.over.is_set()
    active_tasks.begin("a", other.work, about="again")
    assert active_tasks.about("a") == "again"
    await active_tasks.stop("a")
    await active_tasks.stop("a")
    assert "a" not in active_tasks


async def test_work_that_is_stopped_before_it_began_never_begins():
    active_tasks, job = ActiveTasks[str](), Job()
    active_tasks.begin("a", job.work)
    await active_tasks.stop("a")
    assert (job.begun, "a" in active_tasks) == (0, False)


async def test_draining_waits_for_work_that_begins_meanwhile():
    active_tasks, job, later = ActiveTasks[str](), Job(), Job()
    later.let_go.set()

    async def first() -> None:
        await job.work()
        active_tasks.begin("b", later.work)

    active_tasks.begin("a", first)
    draining = asyncio.create_task(active_tasks.drain())
    await job.started.wait()
    assert not draining.done()
    job.let_go.set()
    await draining
    assert later.begun == 1


async def test_closing_ends_all_of_it_side_by_side():
    active_tasks, jobs = ActiveTasks[int](), [Job() for _ in range(3)]
    for number, job in enumerate(jobs):
        active_tasks.begin(number, job.work)
    await asyncio.gather(*(job.started.wait() for job in jobs))
    await active_tasks.close()
    assert all(job.over.is_set() for job in jobs)
    assert list(active_tasks) == []
    await active_tasks.close()


async def test_what_takes_long_is_waited_for_no_longer_than_asked():
    active_tasks, fast, slow, other = ActiveTasks[str](), Job(), Job(), Job()
    fast.let_go.set()
    for key, job in (("fast", fast), ("slow", slow), ("other", other)):
        active_tasks.begin(key, job.work)
    await active_tasks.wait(["fast", "unknown"], timeout_s=60)
    assert (fast.over.is_set(), list(active_tasks)) == (True, ["slow", "other"])
    await active_tasks.wait(["fast", "slow"], timeout_s=0.01)
    assert list(active_tasks) == ["slow", "other"]
    await active_tasks.close()

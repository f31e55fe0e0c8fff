"""When a session that waits for others is expected to start: `why`, and the check of a request."""

from datetime import UTC, datetime

import pytest
from installation import Api, Caller
from queue_kit import ALL, waits
from session_kit import SMALL

from carrel.scheduling import forecast

HOUR = 3600
SLACK_S = 300


def after(*refs: str) -> list[dict[str, str]]:
    return [{"session": ref, "condition": "ended"} for ref in refs]


async def expects(api: Api, user: Caller, ref: str, in_s: int | None, no_estimate: str = "") -> None:
    """The expected start of the session is that, also for a request that is only checked."""
    for answer in (await waits(api, user, ref), await check_like(user, ref)):
        assert answer["no_estimate"] == no_estimate
        if in_s is None:
            assert answer["expected_start"] is None
        else:
            due = datetime.fromisoformat(answer["expected_start"]) - datetime.now(UTC)
            assert in_s - SLACK_S < due.total_seconds() <= in_s


async def check_like(user: Caller, ref: str) -> dict:  # type: ignore[type-arg]
    session = (await user.get(f"/sessions/{ref}")).json()
    others = [{"session": one["id"], "condition": one["condition"]} for one in session["after"]]
    return (await user.post("/sessions/check", {"slots": SMALL, "after": others})).json()  # type: ignore[no-any-return]


async def test_who_waits_for_others_is_expected_when_the_last_of_them_reaches_its_time_limit(living: Api):
    user = await living.as_("user")
    await user.start(name="short", time_limit_s=HOUR)
    await user.start(name="long-run", time_limit_s=2 * HOUR)
    await user.start(name="later", after=after("short", "long-run"), time_limit_s=HOUR)
    await expects(living, user, "later", 2 * HOUR)
    await user.start(name="last", after=after("later"))
    await expects(living, user, "last", 3 * HOUR)
    await user.start(name="very-last", after=after("last"))
    await expects(living, user, "very-last", None, "There is no estimate, because last has no time limit.")


async def test_what_waits_for_one_without_a_time_limit_says_so(living: Api):
    user = await living.as_("user")
    await user.start(name="endless")
    await user.start(name="later", after=after("endless"), time_limit_s=HOUR)
    await expects(living, user, "later", None, "There is no estimate, because endless has no time limit.")
    await user.start(name="last", after=after("later"))
    await expects(
        living,
        user,
        "last",
        None,
        "There is no estimate, because later waits for a session without a time limit.",
    )
    # One that ends is over soon, whatever its limit.
    assert (await user.delete("/sessions/endless")).status_code == 202
    await living.until(user, (await user.get("/sessions/later")).json()["id"], "RUNNING")
    await expects(living, user, "last", HOUR)


async def test_a_queue_that_is_too_long_has_no_estimate(living: Api, monkeypatch: pytest.MonkeyPatch):
    user = await living.as_("user")
    monkeypatch.setattr(forecast, "MOST_WORK", 0)
    first = await user.start(slots=ALL, time_limit_s=3600)
    await living.until(user, first["id"], "RUNNING")
    later = [await user.start(slots=ALL, time_limit_s=3600) for _ in range(5)]
    last = await waits(living, user, later[-1]["id"])
    assert (last["expected_start"], last["no_estimate"]) == (
        None,
        "There is no estimate, because the queue is too long.",
    )
    early = await waits(living, user, later[0]["id"])
    assert early["expected_start"]
    assert early["no_estimate"] == ""


async def test_what_can_never_start_has_no_estimate(living: Api):
    user = await living.as_("user")
    first = await user.start(name="first", time_limit_s=HOUR)
    await user.start(name="other", time_limit_s=HOUR)
    needs = [{"session": ref, "condition": "failed"} for ref in ("first", "other")]
    later = await user.start(name="later", after=needs, on_dependency_failure="wait")
    assert (await waits(living, user, later["id"]))["expected_start"]
    await living.until(user, first["id"], "RUNNING")
    await user.delete(f"/sessions/{first['id']}")
    await living.until(user, first["id"], "TERMINATED")
    why = await waits(living, user, later["id"])
    assert (why["expected_start"], why["no_estimate"]) == (None, "")
    assert "starts only after its failure" in why["reason"]

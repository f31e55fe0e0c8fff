"""Sessions that nobody uses: the page warns of their end, keeps them, and says when it is due."""

import re
from collections.abc import Iterator

import httpx2
import psycopg
import pytest
from playwright.sync_api import expect

from carrel.db.embedded import Embedded
from e2e.desk import STARTS_MS, Desk
from e2e.people import administrator, fresh
from e2e.running import Running

Database = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def api(carrel: Running) -> Iterator[httpx2.Client]:
    with administrator(carrel) as client:
        yield client


@pytest.fixture
def database(carrel: Running) -> Iterator[Database]:
    """Lets an hour pass for one session without waiting for it."""
    with psycopg.connect(Embedded(carrel.data_dir / "postgres").url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def sleepy(carrel: Running, api: httpx2.Client) -> Iterator[str]:
    """The name of a policy that ends what has no traffic for an hour. Whoever has it then has the default one."""
    name = fresh("sleepy")
    limits = api.get("/policies/default-keypair").json()["limits"] | {"idle_timeout_s": 3600}
    made = api.post("/policies", json={"kind": "keypair", "name": name, "limits": limits})
    assert made.status_code == 201, made.text
    yield name
    _give(carrel, api, "default-keypair")
    assert api.delete(f"/policies/{made.json()['id']}").status_code == 204


def _give(carrel: Running, api: httpx2.Client, policy: str) -> None:
    """Have the administrator's keypair go by a policy; what runs is looked at as soon as that is known."""
    holders = {"keypairs": [carrel.environment["CARREL_ACCESS_KEY"]]}
    given = api.put(f"/policies/{policy}/holders", json=holders)
    assert given.status_code == 200, given.text


def test_idle_session_is_warned_of_kept_and_ended_once_that_is_due(
    desk: Desk, carrel: Running, api: httpx2.Client, database: Database, sleepy: str, own_session: str
) -> None:
    page = desk.page
    # 1. Told late, it has its whole notice; the page says so by itself.
    desk.go("/sessions")
    desk.expect_state(own_session, "Running")
    long_ago = "UPDATE sessions SET started_at = now() - interval '58 min' WHERE name = %s RETURNING id"
    [[session]] = database.execute(long_ago, [own_session]).fetchall()
    _give(carrel, api, sleepy)
    expect(page.get_by_text(f"{own_session} looks idle")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    bell = page.get_by_role("dialog", name="Notifications")
    expect(bell).to_contain_text(re.compile(rf"{own_session}\s*Idle: terminates in 5m \d\ds\."))
    expect(bell.get_by_role("button", name="Keep session")).to_be_visible()
    page.keyboard.press("Escape")

    # 2. Kept, it has its hour again.
    drawer = desk.detail(own_session)
    warning = drawer.get_by_role("alert").filter(has_text="Idle: terminates")
    ends = drawer.get_by_role("definition").filter(has_text="limit 1h 00m")
    warning.get_by_role("button", name="Keep session").click()
    expect(warning).to_be_hidden()
    expect(ends).to_contain_text(re.compile(r"in 59m \d\ds"))

    # 3. Once its end is due, nothing counts on at nothing.
    due = (
        "UPDATE sessions SET started_at = now() - interval '63 min', idle_ends_at = now() - %s::interval "
        "WHERE id = %s"
    )
    database.execute(due, ["1 s", session])
    kept = "UPDATE session_activity SET kept_at = now() - interval '63 min' WHERE session_id = %s"
    database.execute(kept, [session])
    page.reload()
    expect(warning).to_contain_text("Idle: terminates any moment.")
    expect(ends).to_contain_text("any moment")

    # 4. Then it ends, and says why.
    database.execute(due, ["2 min", session])
    assert api.patch(f"/policies/{sleepy}", json={"limits": {"sessions": 100}}).status_code == 200
    expect(drawer).to_contain_text("Idle: no traffic for 1 h.", timeout=STARTS_MS)
    expect(warning).to_be_hidden()

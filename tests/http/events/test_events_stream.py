"""GET /events: the order of commit, resuming without a gap, and only what one may see."""

import asyncio
import socket

import psycopg
import pytest
from events_kit import Frame, following
from installation import API, Api
from people import eventually

from carrel.events import routes, service


def event_sql(number: int, owner: str = "") -> tuple[str, tuple[str, ...]]:
    return (
        "INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data) "
        "VALUES ('test', 'session', %s, %s, 'p', 'd', '{}'); ",
        (str(number), owner),
    )


async def write(api: Api, connection: psycopg.AsyncConnection, number: int) -> None:  # type: ignore[type-arg]
    await connection.execute(*event_sql(number, api.people.user.user_id))


async def test_what_happens_arrives_with_all_that_a_page_needs(api: Api):
    user = await api.as_("user")
    async with following(user) as stream:
        made = await user.start(name="desk")
        created = await stream.until("session.created")
        assert created.id == created.data["id"]
        assert created.data["object"] == {"kind": "session", "id": made["id"]}
        assert created.data["data"]["state"] == "PENDING"
        assert set(created.data["data"]) >= {
            "id",
            "name",
            "state",
            "reason",
            "progress",
            "warnings",
            "node",
            "started_at",
            "ended_at",
        }
        await user.delete(f"/sessions/{made['id']}")
        updated = await stream.until("session.updated")
        assert updated.data["data"]["state"] == "CANCELLED"
        listed = (await user.get("/events")).json()["items"]
        assert [item["id"] for item in listed] == [updated.id, created.id]


async def test_nothing_is_missed_from_the_hello_on(api: Api):
    user = await api.as_("user")
    for _ in range(10):
        async with following(user) as stream:
            made = await user.start()
            assert (await stream.until("session.created")).data["object"]["id"] == made["id"]


async def test_an_event_behind_an_older_transaction_comes_when_that_has_ended(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    """Its position is after everything the older one may yet write, and nobody announces the older one's end."""
    monkeypatch.setattr(routes, "PING_S", 0.1)
    user = await api.as_("user")
    connect = psycopg.AsyncConnection.connect
    async with following(user) as stream, await connect(api.database.url) as older:
        await older.execute("CREATE TABLE held (x int)")
        made = await user.start()
        waiting = asyncio.create_task(stream.until("session.created"))
        pings = stream.pings
        await eventually(lambda: stream.pings >= pings + 2)
        assert not waiting.done()
        await older.rollback()
        assert (await waiting).data["object"]["id"] == made["id"]


async def test_readers_get_everything_once_and_in_order_whatever_commits_late(api: Api):
    """Writers that hold their transaction for a while, and a reader that breaks off and resumes all the time."""
    writers, each = 6, 12
    user = await api.as_("user")

    async def writing(writer: int) -> None:
        async with await psycopg.AsyncConnection.connect(api.database.url) as connection:
            for number in range(each):
                await write(api, connection, writer * 1000 + number)
                await connection.execute("SELECT pg_sleep(%s)", (0.002 * ((writer * 7 + number * 3) % 9),))
                await write(api, connection, writer * 1000 + 500 + number)
                await connection.execute("SELECT pg_notify('carrel', 'events')")
                await connection.commit()

    expected = writers * each * 2
    seen: list[Frame] = []

    async def reading() -> None:
        last: str | None = "1.0"
        while len(seen) < expected:
            async with following(user, headers={"Last-Event-ID": last}) as stream:
                for _ in range(5):
                    frame = await stream.frame()
                    assert frame is not None
                    seen.append(frame)
                    last = frame.id
                    if len(seen) == expected:
                        return

    async with asyncio.timeout(60):
        await asyncio.gather(reading(), *(writing(writer) for writer in range(writers)))
    numbers = [frame.data["object"]["id"] for frame in seen]
    assert len(set(numbers)) == expected
    positions = [tuple(map(int, str(frame.id).split("."))) for frame in seen]
    assert positions == sorted(positions)
    live = [int(n) for n in numbers]
    for writer in range(writers):
        own = [n % 500 for n in live if n // 1000 == writer and n % 1000 < 500]
        assert own == sorted(own)


async def test_the_order_holds_where_transaction_numbers_grow_a_digit(api: Api):
    user = await api.as_("user")
    async with await psycopg.AsyncConnection.connect(api.database.url, autocommit=True) as connection:
        for number, xid in enumerate((9, 10, 99, 100)):
            await connection.execute(
                "INSERT INTO events (xid, kind, object_kind, object_id, owner_id, project_id, domain_id, data) "
                "VALUES (%s::text::xid8, 'test', 'session', %s, %s, 'p', 'd', '{}')",
                (xid, str(number), api.people.user.user_id),
            )
    listed = [item["object"]["id"] for item in (await user.get("/events")).json()["items"]]
    assert listed == ["3", "2", "1", "0"]
    async with following(user, headers={"Last-Event-ID": "1.0"}) as stream:
        assert [(await stream.until("test")).data["object"]["id"] for _ in range(4)] == ["0", "1", "2", "3"]


async def test_two_events_of_one_transaction_are_never_parted(api: Api):
    user = await api.as_("user")
    async with (
        following(user) as stream,
        await psycopg.AsyncConnection.connect(api.database.url) as connection,
    ):
        await write(api, connection, 1)
        async with await psycopg.AsyncConnection.connect(api.database.url, autocommit=True) as other:
            await write(api, other, 3)
            await other.execute("SELECT pg_notify('carrel', 'events')")
        await write(api, connection, 2)
        await connection.execute("SELECT pg_notify('carrel', 'events')")
        await connection.commit()
        order = [(await stream.until("test")).data["object"]["id"] for _ in range(3)]
    assert order == ["1", "2", "3"]


async def test_each_sees_their_own(api: Api):
    names = ("user", "colleague", "stranger", "foreigner", "superadmin")
    callers = {name: await api.as_(name) for name in names}
    seen: dict[str, list[str]] = {name: [] for name in names}

    async def follow(name: str, ready: asyncio.Event) -> None:
        async with following(callers[name]) as stream:
            ready.set()
            while frame := await stream.frame(within_s=30):
                seen[name].append(frame.data["object"]["id"])

    async with asyncio.TaskGroup() as group:
        tasks = []
        for name in names:
            ready = asyncio.Event()
            tasks.append(group.create_task(follow(name, ready)))
            await ready.wait()
        made = {name: (await callers[name].start())["id"] for name in names}

        async def everything() -> bool:
            return len(seen["superadmin"]) == len(names) and all(seen[name] for name in names)

        await eventually(everything)
        for task in tasks:
            task.cancel()
    assert set(seen["superadmin"]) == set(made.values())
    for name in names[:-1]:
        assert seen[name] == [made[name]]


async def test_usage_goes_to_whoever_may_see_the_session(living: Api):
    user, colleague = await living.as_("user"), await living.as_("colleague")
    made = await user.start()
    await living.until(user, made["id"], "RUNNING")
    async with following(colleague) as others, following(user) as stream:
        # The second sweep after its start has the first readings.
        async with asyncio.timeout(60):
            usage = await stream.until("usage", within_s=60)
        assert usage.id is None
        assert set(usage.data[made["id"]]) == {"cpu_millis", "mem_bytes", "accelerator_percent"}
        with pytest.raises(TimeoutError):
            await others.frame(within_s=0.2)


async def test_a_slow_reader_is_cut_and_can_resume(api: Api, monkeypatch):
    monkeypatch.setattr(service, "_QUEUE", 50)
    user = await api.as_("user")
    auth = user.http.auth._auth_header  # type: ignore[union-attr]
    with socket.socket() as slow:
        # A small window, so that what is not read stops the server soon.
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", api.port))
        slow.send(
            f"GET {API}/events?follow=true HTTP/1.1\r\nHost: x\r\nAuthorization: {auth}\r\n\r\n".encode()
        )

        async def follows() -> bool:
            return bool(api.services.events._followers)

        await eventually(follows)
        async with await psycopg.AsyncConnection.connect(api.database.url, autocommit=True) as connection:
            for _ in range(40):
                for number in range(50):
                    await connection.execute(
                        "INSERT INTO events (kind, object_kind, object_id, owner_id, project_id, domain_id, data) "
                        "VALUES ('test', 'session', %s, %s, 'p', 'd', jsonb_build_object('x', repeat('x', 4000)))",
                        (str(number), api.people.user.user_id),
                    )
                await connection.execute("SELECT pg_notify('carrel', 'events')")

        async def cut() -> bool:
            return not api.services.events._followers

        await eventually(cut)
        slow.setblocking(False)
        received = b""
        while chunk := await asyncio.wait_for(asyncio.get_running_loop().sock_recv(slow, 65_536), 10):
            received += chunk
            if b"\r\n0\r\n\r\n" in received:
                break
    ids = [line[4:].decode() for line in received.split(b"\n") if line.startswith(b"id: ")]
    async with following(user, headers={"Last-Event-ID": ids[-1]}) as stream:
        following_one = await stream.frame()
        assert following_one is not None
        assert int(str(following_one.id).split(".")[1]) == int(ids[-1].split(".")[1]) + 1


async def test_an_idle_line_is_kept_open_and_closed_to_who_has_signed_out(api: Api, monkeypatch):
    monkeypatch.setattr(routes, "PING_S", 0.1)
    user = await api.browser("user")
    async with user.http.stream("GET", f"{API}/events", params={"follow": "true"}) as answer:
        lines = aiter(answer.aiter_lines())
        async with asyncio.timeout(10):
            assert [await anext(lines) for _ in range(3)] == ["event: hello", "data: {}", ""]
            assert await anext(lines) == ": ping"
            await user.post("/auth/logout")
            rest = [line async for line in lines]
    assert set(rest) <= {"", ": ping"}


async def test_a_reader_who_leaves_is_forgotten(api: Api):
    user = await api.as_("user")
    async with following(user):
        assert len(api.services.events._followers) == 1

    async def forgotten() -> bool:
        return not api.services.events._followers

    await eventually(forgotten)


async def test_the_list_pages_back_to_the_beginning(api: Api):
    user = await api.as_("user")
    async with await psycopg.AsyncConnection.connect(api.database.url, autocommit=True) as connection:
        for number in range(7):
            await write(api, connection, number)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = {"limit": 3, **({"cursor": cursor} if cursor else {})}
        page = (await user.get("/events", params=query)).json()
        seen += [item["object"]["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [str(number) for number in reversed(range(7))]

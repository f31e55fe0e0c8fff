"""GET /metrics: what the server measures of itself."""

import base64
import os
import socket
import time
from contextlib import closing

import pytest
from access_kit import World, world
from events_kit import following
from files_kit import folder
from installation import API, Api
from metrics_kit import Scraped, parsed
from people import eventually
from sqlalchemy import text
from websockets.exceptions import InvalidStatus

import carrel
from carrel.scheduling.snapshot import Cause

__all__ = ["world"]

REQUESTS = "carrel_http_requests_total"
SECONDS = "carrel_http_request_duration_seconds_count"
SESSION = "/api/v1/sessions/{ref}"


async def scrape(api: Api) -> Scraped:
    answer = await (await api.as_("superadmin")).get("/metrics")
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


@pytest.mark.parametrize(
    ("method", "path", "route", "status"),
    [
        ("GET", "/api/v1/sessions", "/api/v1/sessions", 200),
        ("GET", "/api/v1/sessions?limit=0", "/api/v1/sessions", 422),
        ("GET", "/api/v1/sessions/nobody", SESSION, 404),
        ("DELETE", "/api/v1/nodes", "/api/v1/nodes", 405),
        ("GET", "/api/v1/none/such", "unmatched", 404),
        ("GET", "/assets/none.js", "page", 404),
    ],
)
async def test_requests_are_counted_by_the_template_of_their_route(
    api: Api, method: str, path: str, route: str, status: int
):
    user = await api.as_("user")
    before = await scrape(api)
    for _ in range(3):
        assert (await user.http.request(method, path)).status_code == status
    after = await scrape(api)
    labels = {"route": route, "method": method}
    counted = {**labels, "status": str(status)}
    assert after.value(REQUESTS, **counted) - before.value(REQUESTS, **counted) == 3
    assert after.value(SECONDS, **labels) - before.value(SECONDS, **labels) == 3
    assert after.total(REQUESTS) - before.total(REQUESTS) == 4, "these three and the first scrape"


async def test_made_up_methods_and_paths_add_no_series(api: Api):
    user = await api.as_("user")
    for method in ("PROPFIND", "REPORT", "MKCALENDAR"):
        for number in range(3):
            await user.http.request(method, f"{API}/sessions/{number}")
    metrics = await scrape(api)
    methods = {dict(labels)["method"] for name, labels in metrics.samples if name == REQUESTS}
    assert methods <= {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "OTHER"}
    routes = {dict(labels)["route"] for name, labels in metrics.samples if name == REQUESTS}
    assert not any("0" in route for route in routes)


async def test_an_event_stream_is_counted_when_it_begins_and_open_until_it_ends(api: Api):
    labels = {"route": "/api/v1/events", "method": "GET", "status": "200"}
    before = await scrape(api)
    async with following(await api.as_("user")):
        during = await scrape(api)
        assert during.value(REQUESTS, **labels) - before.value(REQUESTS, **labels) == 1
        assert during.value("carrel_event_streams_open") - before.value("carrel_event_streams_open") == 1
        # The scrape itself is one of them.
        assert during.value("carrel_http_requests_in_progress", type="http") == 2

    async def ended() -> bool:
        now = await scrape(api)
        return now.value("carrel_event_streams_open") == before.value("carrel_event_streams_open")

    await eventually(ended)


async def test_websockets_are_counted_when_they_open_or_are_refused(world: World):
    session = await world.session()

    async def look() -> Scraped:
        async with world.http(world.people.superadmin) as client, client.get(f"{API}/metrics") as answer:
            return parsed(await answer.text())

    route = "/api/v1/sessions/{ref}/terminal"
    before = await look()
    async with world.connect(f"{session}/terminal") as socket_:
        await socket_.recv()
        during = await look()
        assert during.value("carrel_http_requests_in_progress", type="websocket") == 1
    with pytest.raises(InvalidStatus) as refused:
        async with world.connect(f"{session}/none"):
            pass
    assert refused.value.response.status_code == 403

    async def over() -> bool:
        return (await look()).value("carrel_http_requests_in_progress", type="websocket") == 0

    await eventually(over)
    after = await look()
    for counted, status in ((route, "101"), ("unmatched", "403")):
        labels = {"route": counted, "method": "GET", "status": status}
        assert after.value(REQUESTS, **labels) - before.value(REQUESTS, **labels) == 1, counted


async def test_bytes_count_that_pass_the_event_loop_by(api: Api, tmp_path_factory: pytest.TempPathFactory):
    data = await folder(api, root=tmp_path_factory.mktemp("disk") / "fast")
    content = os.urandom(3 << 20)
    sent, received = "carrel_http_sent_bytes_total", "carrel_http_received_bytes_total"
    before = await scrape(api)
    assert (await data.write("big", content)).status_code in (200, 201)
    assert (await data.content("big")).content == content
    assert (await data.content("big", Range="bytes=0-1048575")).status_code == 206
    after = await scrape(api)
    assert 0 <= after.value(received) - before.value(received) - len(content) < 10_000
    assert 0 <= after.value(sent) - before.value(sent) - len(content) - (1 << 20) < 1 << 20, "and the scrape"


async def test_a_client_that_leaves_before_its_response_is_counted_as_such(api: Api):
    data = await folder(api)
    labels = {"route": "/api/v1/vfolders/{ref}/content", "method": "PUT", "status": "499"}
    before = await scrape(api)
    key, secret = await api.keypair(api.people.user)
    auth = base64.b64encode(f"{key}:{secret}".encode()).decode()
    with closing(socket.create_connection(("127.0.0.1", api.port))) as client:
        client.sendall(
            f"PUT {API}/vfolders/{data.id}/content?path=x HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {auth}\r\n"
            f"Content-Length: {4 << 20}\r\n\r\nhalf".encode()
        )

        async def arriving() -> bool:
            return (await scrape(api)).value("carrel_uploads_in_progress") > 0

        await eventually(arriving)

    async def counted() -> bool:
        after = await scrape(api)
        return after.value(REQUESTS, **labels) - before.value(REQUESTS, **labels) == 1

    await eventually(counted)
    assert (await scrape(api)).value("carrel_uploads_in_progress") == before.value(
        "carrel_uploads_in_progress"
    )


async def test_controllers_say_when_they_last_succeeded_and_what_they_decided(living: Api):
    admin = await living.as_("superadmin")
    before = await scrape(living)
    session = await (await living.as_("user")).start()
    await living.until(admin, session["id"], "RUNNING")
    await admin.patch("/policies/default-user", {"limits": {"sessions": 1}})
    await (await living.as_("user")).start()

    async def refused() -> bool:
        metrics = await scrape(living)
        return metrics.value("carrel_scheduler_refused_sessions", cause=Cause.LIMIT) == 1

    await eventually(refused)
    metrics = await scrape(living)
    assert metrics.value("carrel_leader") == 1
    assert metrics.value("carrel_leader_epoch") >= 1
    placements = "carrel_scheduler_placements_total"
    assert metrics.value(placements) - before.value(placements) == 1
    assert metrics.value("carrel_scheduler_plan_duration_seconds_count") > 0
    assert metrics.value("carrel_scheduler_queue_length", group="default") == 1
    timestamp = "carrel_controller_last_success_timestamp_seconds"
    names = {dict(labels)["controller"] for name, labels in metrics.samples if name == timestamp}
    assert {"observe", "schedule", "launch", "reap", "housekeeping"} <= names
    assert all(time.time() - metrics.value(timestamp, controller=name) < 300 for name in names)
    assert all(
        metrics.value("carrel_controller_step_duration_seconds_count", controller=name) for name in names
    )


async def test_each_engine_is_up_or_not(living: Api):
    admin = await living.as_("superadmin")
    added = await admin.post("/engines", {"name": "second", "kind": "fake", "settings": {}})
    assert added.status_code == 201, added.text

    async def ups() -> tuple[float, float]:
        metrics = await scrape(living)
        return metrics.value("carrel_engine_up", engine="local"), metrics.value(
            "carrel_engine_up", engine="second"
        )

    async def are(local: int, second: int) -> bool:
        return await ups() == (local, second)

    await eventually(lambda: are(1, 1))
    living.engine.world.go_away()
    await eventually(lambda: are(0, 1))


async def test_the_database_connections_disk_and_build_are_measured(api: Api):
    async with api.database.transaction() as tx:
        await tx.execute(text("SELECT 1"))
        metrics = await scrape(api)
        assert metrics.value("carrel_database_connections", pool="transactions", state="in_use") >= 1
    assert metrics.value("carrel_database_connections_limit", pool="transactions") >= 2
    assert metrics.value("carrel_database_connection_waiters", pool="transactions") == 0
    assert (
        metrics.value("carrel_database_listeners")
        == metrics.value("carrel_database_listeners_connected")
        >= 1
    )
    assert metrics.value("carrel_database_up") == 1
    assert metrics.value("carrel_database_size_bytes") > 1 << 20
    assert metrics.value("carrel_database_oldest_transaction_seconds") > 0
    assert metrics.value("carrel_database_transaction_duration_seconds_count") > 0
    assert metrics.value("carrel_database_query_duration_seconds_count") >= 0
    assert 0 < metrics.value("carrel_disk_free_bytes") < metrics.value("carrel_disk_size_bytes")
    assert metrics.total("carrel_build_info", version=carrel.__version__) == 1
    assert metrics.value("process_resident_memory_bytes") > 1 << 20
    assert not any(name.endswith("_created") for name, _ in metrics.samples)

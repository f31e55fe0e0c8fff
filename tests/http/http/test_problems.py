"""Every "no" is an RFC 9457 problem with a stable code, whoever says it."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from databases import no_connections
from installation import Api
from people import eventually
from session_kit import SMALL

from carrel.http.problems import Problem
from carrel.http.shell import MAX_BODY_BYTES

JSON = {"Content-Type": "application/json"}


def require_problem(answer, status: int, code: str) -> Problem:  # type: ignore[no-untyped-def]
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate(answer.json())
    assert problem.status == status
    assert problem.detail
    assert problem.request_id == answer.headers["x-request-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    return problem


async def test_what_is_not_there_is_404_in_every_method(api: Api):
    user = await api.as_("user")
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        require_problem(await user.ask(method, "/nothing"), 404, "http.not_found")
    for path in ("/sessions/", "/sessions/a/b/c", "/Sessions"):
        require_problem(await user.get(path), 404, "http.not_found")
    for path in ("/api", "/api/", "/api/v2/sessions"):
        require_problem(await user.http.get(path), 404, "http.not_found")


async def test_what_is_not_done_is_405_and_says_what_is(api: Api):
    user = await api.as_("user")
    answer = await user.delete("/health")
    require_problem(answer, 405, "http.method_not_allowed")
    assert answer.headers["allow"] == "GET"
    answer = await user.http.post("/")
    require_problem(answer, 405, "http.method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD"


async def test_a_body_that_is_too_large_is_refused(api: Api):
    user = await api.as_("user")

    async def in_pieces() -> AsyncIterator[bytes]:
        for _ in range(3 * MAX_BODY_BYTES // 65_536):
            yield bytes(65_536)

    require_problem(
        await user.ask("POST", "/sessions", content=bytes(MAX_BODY_BYTES + 1), headers=JSON),
        413,
        "http.too_large",
    )
    # Without a Content-Length to warn of it.
    answer = await user.ask("POST", "/sessions", content=in_pieces(), headers=JSON)
    require_problem(answer, 413, "http.too_large")
    largest = b'{"name":"' + b"x" * (MAX_BODY_BYTES - 11) + b'"}'
    assert len(largest) == MAX_BODY_BYTES
    require_problem(
        await user.ask("PATCH", "/sessions/abc", content=largest, headers=JSON), 422, "invalid.request"
    )


@pytest.mark.parametrize("body", [b"{", b"", b"nonsense", b'{"image": }', b"\xff\xfe", b"[" * 100_000])
async def test_what_is_not_json_is_said_so(api: Api, body: bytes):
    user = await api.as_("user")
    answer = await user.ask("POST", "/sessions", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    problem = require_problem(answer, answer.status_code, answer.json()["code"])
    assert problem.code in ("invalid.json", "invalid.request", "http.bad_request")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_what_a_form_of_another_site_could_send_is_not_read(api: Api, kind: str):
    user = await api.as_("user")
    answer = await user.ask(
        "POST", "/sessions", content=b'{"image":"debian:12"}', headers={"Content-Type": kind}
    )
    require_problem(answer, 415, "http.unsupported_media_type")
    anonymous = await api.as_("anonymous")
    body = b'{"email":"user@example.org","password":"correct horse 9"}'
    answer = await anonymous.ask("POST", "/auth/login", content=body, headers={"Content-Type": kind})
    require_problem(answer, 415, "http.unsupported_media_type")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"slots": {"cpu": 100}}, "slots.mem"),
        ({"slots": {"cpu": "many", "mem": 1 << 30}}, "slots.cpu"),
        ({"slots": {"cpu": -1, "mem": 1 << 30}}, "slots.cpu"),
        ({"slots": {"cpu": 1 << 70, "mem": 1 << 30}}, "slots.cpu"),
        ({"slots": {**SMALL, "gpu": 1}}, "slots"),
        ({"slots": {**SMALL, "cuda.device": 0}}, "slots.cuda.device"),
        ({"name": "a"}, "name"),
        ({"name": "-abc"}, "name"),
        ({"name": "a" * 65}, "name"),
        ({"name": "a\nbcd"}, "name"),
        ({"name": "abcd\n"}, "name"),
        ({"image": ""}, "image"),
        ({"image": "x" * 513}, "image"),
        ({"env": {"1A": "x"}}, "env.1A"),
        ({"env": {"A": 1}}, "env.A"),
        ({"unknown": 1}, "unknown"),
    ],
)
async def test_what_makes_no_sense_names_its_field(api: Api, change: dict, field: str):  # type: ignore[type-arg]
    user = await api.as_("user")
    problem = require_problem(await user.try_start(**change), 422, "invalid.request")
    assert problem.field == field
    assert "pattern" not in problem.detail
    assert ".." not in problem.detail
    if field.startswith("slots.") and field != "slots.mem":
        assert "Input should" not in problem.detail


async def test_a_rule_is_told_in_words(api: Api):
    user = await api.as_("user")
    answer = await user.try_start(name="a b")
    problem = require_problem(answer, 422, "invalid.request")
    assert problem.detail == (
        "A name has 4 to 64 letters, digits or _; between the first and the last also . and -."
    )
    assert problem.hint == ""
    answer = await user.try_start(slots={"cpu": 1, "mem": SMALL["mem"]})
    problem = require_problem(answer, 422, "invalid.request")
    assert problem.detail.startswith("cpu is a whole number of millicores")
    assert problem.field == "slots.cpu"


async def test_a_nul_is_refused_wherever_it_is(api: Api):
    user = await api.as_("user")
    answers = [
        await user.get("/sessions?q=%00"),
        await user.get("/sessions/a%00b"),
        await user.try_start(env={"A": "a\0b"}),
        await user.post("/auth/login", {"email": "\0", "password": "x"}),
        await user.delete("/keypairs/%00"),
    ]
    for answer in answers:
        require_problem(answer, 422, "invalid.text")
    lonely = b'{"image":"debian:12","slots":{"cpu":100,"mem":67108864},"env":{"A":"\\ud800"}}'
    answer = await user.ask("POST", "/sessions", content=lonely, headers=JSON)
    require_problem(answer, 422, "invalid.request")


@pytest.mark.parametrize(
    "cursor", ["x", "", "AAAA", "%00", "%F0%9F%8C%B5", "bm90aGluZw", "fA", "MjAyNi0wMS0wMXwA"]
)
async def test_a_cursor_that_is_not_ours_is_refused(api: Api, cursor: str):
    user = await api.as_("user")
    answer = await user.get(f"/sessions?cursor={cursor}")
    if cursor:
        assert answer.json()["code"] in ("invalid.cursor", "invalid.text")
        require_problem(answer, 422, answer.json()["code"])
    else:
        assert answer.status_code == 200


async def test_a_position_that_is_not_ours_is_refused_before_the_stream_begins(api: Api):
    user = await api.as_("user")
    for position in ("x", "1", "1.", ".1", "1.2.3", "-1.1", "٣.1", "9" * 20 + ".1", "1." + "9" * 19):
        require_problem(await user.get("/events", params={"cursor": position}), 422, "invalid.position")
        followed = await user.get("/events", params={"follow": "true", "last_event_id": position})
        require_problem(followed, 422, "invalid.position")


async def test_an_error_of_ours_says_nothing_of_itself(api: Api):
    user = await api.as_("user")
    await user.get("/auth/me")
    async with await psycopg.AsyncConnection.connect(api.database.url, autocommit=True) as connection:
        await connection.execute("ALTER TABLE images RENAME TO gone")
    answer = await user.get("/images")
    problem = require_problem(answer, 500, "internal")
    assert "images" not in problem.detail
    assert answer.headers["content-security-policy"]
    assert (await user.get("/health")).status_code == 200


async def test_without_the_database_it_says_so_and_comes_back(api: Api):
    user = await api.as_("user")
    assert (await user.get("/sessions")).status_code == 200
    async with no_connections(api.database):
        for path in ("/sessions", "/health", "/events", "/auth/me"):
            answer = await user.get(path)
            require_problem(answer, 503, "database.unavailable")
            assert int(answer.headers["retry-after"]) > 0
        answers = await asyncio.gather(*(user.get("/sessions") for _ in range(30)))
        assert {answer.status_code for answer in answers} == {503}

    async def back() -> bool:
        return (await user.get("/health")).status_code == 200

    await eventually(back)
    await user.start()

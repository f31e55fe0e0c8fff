"""openapi.json is valid, and complete enough for tools that generate clients, documentation and tests from it."""

import asyncio
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from installation import document
from openapi_spec_validator import OpenAPIV31SpecValidator

from carrel.permissions.actions import ACTIONS
from carrel.server import api_document

Operation = dict[str, Any]


def operations() -> Iterator[tuple[str, str, Operation]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


OPERATIONS = [pytest.param(*each, id=each[2]["operationId"]) for each in operations()]


def test_the_document_is_valid_openapi_3_1():
    """Defaults included: each must satisfy its own schema."""
    assert [error.message for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_is_described(method: str, path: str, operation: Operation):
    summary = operation["summary"]
    assert re.match(r"[A-Z][a-z]+ \S", summary), (
        f"{summary!r}: give the route a summary of a verb and its object"
    )
    assert len(summary) <= 60
    assert not summary.endswith(".")
    assert operation["description"]
    assert any(status[0] in "23" for status in operation["responses"])
    for status in ("4XX", "5XX"):
        problem = operation["responses"][status]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/Problem"}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_what_needs_no_credentials_is_public_in_the_table_of_actions(
    method: str, path: str, operation: Operation
):
    if not operation["security"]:
        assert ACTIONS[operation["x-carrel-action"]].public


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_a_cookie_comes_with_its_csrf_token_where_something_changes(
    method: str, path: str, operation: Operation
):
    pages = [set(each) for each in operation["security"] if "cookie" in each]
    expected = {"cookie"} if method in ("get", "head", "options") else {"cookie", "csrf"}
    assert pages in ([], [expected])


def test_every_tag_is_described_and_used():
    described = {tag["name"]: tag["description"] for tag in document()["tags"]}
    assert set(described) == {tag for _, _, operation in operations() for tag in operation["tags"]}
    assert all(described.values())


async def test_other_requests_are_answered_while_the_document_is_generated():
    app, begun, answered = FastAPI(), threading.Event(), threading.Event()

    def generate() -> dict[str, bool]:
        begun.set()
        return {"others": answered.wait(3)}

    app.openapi = generate  # type: ignore[method-assign]
    api_document.serve(app)
    async with AsyncClient(transport=ASGITransport(app), base_url="http://api") as client:
        generating = asyncio.create_task(client.get("/api/v1/openapi.json"))
        await asyncio.to_thread(begun.wait, 10)
        await client.get("/another")
        answered.set()
        assert (await generating).json() == {"others": True}

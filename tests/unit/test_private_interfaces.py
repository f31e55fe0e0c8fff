"""The private interfaces of libraries that Carrel uses exist: docs/reference/private-interfaces.md."""

import ast
import dis
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import aiodocker
import pytest
from aiohttp import BaseConnector, StreamReader, web
from aiohttp.web_protocol import RequestHandler, _ErrInfo
from asyncssh.channel import SSHServerChannel
from asyncssh.connection import SSHConnection
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from sqlalchemy.pool import AsyncAdaptedQueuePool
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from carrel.apps.keepalive import PatientProtocol
from carrel.engines.docker.api import DockerApi
from carrel.gateway.relay import Written
from carrel.gateway.request_handler import GuardedHandler, GuardedServer
from carrel.http.fast_path import FastRoute
from carrel.http.protocol import GuardedProtocol
from carrel.http.sendfile import ZeroCopyProtocol

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/reference/private-interfaces.md").read_text()

OVERRIDDEN: list[tuple[type, str]] = [
    (HttpToolsProtocol, "connection_made connection_lost data_received handle_websocket_upgrade"),
    (
        HttpToolsProtocol,
        "on_message_begin on_headers_complete on_body on_message_complete on_response_complete",
    ),
    (HttpToolsProtocol, "_start_asgi_task"),
    (WebSocketsSansIOProtocol, "keepalive_timeout"),
    (RequestHandler, "connection_made connection_lost data_received _make_error_handler"),
    (web.Server, "__call__"),
    (web.StreamResponse, "prepare write_eof"),
    (APIRoute, "get_route_handler"),
    (AsyncAdaptedQueuePool, "_do_get _do_return_conn _dec_overflow"),
    (SSHConnection, "_recv_pkthdr pause_writing resume_writing"),
    (SSHServerChannel, "_process_env_request"),
]
USED: list[tuple[type, str]] = [
    (
        RequestResponseCycle,
        "keep_alive disconnected response_started response_complete message_event body send",
    ),
    (RequestResponseCycle, "expected_content_length waiting_for_100_continue transport"),
    (FlowControl, "read_paused pause_reading drain"),
    (StreamReader, "total_bytes set_exception feed_eof is_eof"),
    (_ErrInfo, "exc message"),
    (aiodocker.Docker, "_query_json _do_query connector api_version"),
    (BaseConnector, "_limit limit"),
    (Dependant, "dependencies call"),
    (APIRoute, "dependant openapi_extra operation_id"),
    (StaticFiles, "file_response"),
    (SSHConnection, "_pktlen"),
    (SSHServerChannel, "_env"),
]
OURS: list[tuple[type, type]] = [
    (GuardedProtocol, HttpToolsProtocol),
    (ZeroCopyProtocol, GuardedProtocol),
    (PatientProtocol, WebSocketsSansIOProtocol),
    (GuardedHandler, RequestHandler),
    (GuardedServer, web.Server),
    (Written, web.StreamResponse),
    (FastRoute, APIRoute),
]


def known(cls: type) -> set[str]:
    """Every attribute that a class, or what it inherits from, defines or sets on itself."""
    names: set[str] = set()
    for each in cls.__mro__[:-1]:
        names |= set(vars(each)) | set(getattr(each, "__annotations__", {}))
        for part in vars(each).values():
            part = inspect.unwrap(part) if isinstance(part, FunctionType) else part
            if isinstance(part, FunctionType):
                names |= _set_by(part)
    return names


def _set_by(function: FunctionType) -> set[str]:
    return {str(step.argval) for step in dis.get_instructions(function) if step.opname == "STORE_ATTR"}


def rows(table: list[tuple[type, str]]) -> list[Any]:
    return [
        pytest.param(cls, name, id=f"{cls.__name__}.{name}") for cls, names in table for name in names.split()
    ]


@pytest.mark.parametrize(("base", "name"), rows(OVERRIDDEN))
def test_what_we_override_is_there(base: type, name: str):
    assert callable(getattr(base, name, None))


@pytest.mark.parametrize(("cls", "name"), rows(USED))
def test_what_we_use_is_there(cls: type, name: str):
    assert name in known(cls) | set(dir(cls))


@pytest.mark.parametrize(("ours", "base"), OURS, ids=lambda cls: cls.__name__)
def test_our_subclass_uses_nothing_of_its_base_that_is_gone(ours: type, base: type):
    source = ast.parse(inspect.getsource(ours))
    used = {
        node.attr
        for node in ast.walk(source)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    own = set(vars(ours)) | {
        str(name) for part in vars(ours).values() if isinstance(part, FunctionType) for name in _set_by(part)
    }
    theirs = known(base) | set(dir(base))
    assert used - theirs <= own


def test_a_handler_of_exceptions_takes_the_frameworks_handlers():
    assert "handlers" in inspect.signature(ExceptionMiddleware).parameters


async def test_the_engines_client_bounds_no_connections():
    api = DockerApi("http://127.0.0.1:1")
    connector = api._client().connector
    assert connector.limit == 0
    await api.close()


def sources() -> Iterator[Path]:
    for folder in ("src/carrel", "clients/python/src"):
        yield from (ROOT / folder).rglob("*.py")


def foreign() -> set[str]:
    """Private names of others: used in our code, defined nowhere in it."""
    used, own = set(), set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(attr=name, ctx=ast.Load()):
                    used.add(name)
                case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    own.add(name)
                case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
                case ast.ImportFrom(module=str(module)) if not module.startswith("carrel"):
                    used |= {each.name for each in node.names}
    return {name for name in used - own if name.startswith("_") and not name.startswith("__")}


def test_the_document_names_every_private_name_of_others():
    assert {"_query_json", "_do_query", "_mapping"} <= foreign()
    assert {name for name in foreign() if f"{name}`" not in DOCUMENT} == set()


def test_the_document_names_what_is_overridden_and_used():
    names = {name for _, names in (*OVERRIDDEN, *USED) for name in names.split()}
    assert {name for name in names if name not in DOCUMENT} == set()


@pytest.mark.parametrize("test", sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?::(\w+))?`", DOCUMENT))))
def test_the_tests_that_the_document_names_are_there(test: tuple[str, str]):
    path, name = test
    assert f"def {name or 'test_'}" in (ROOT / path).read_text()

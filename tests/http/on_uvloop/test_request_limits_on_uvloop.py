"""The limits on requests once more: a transport of uvloop differs from one of asyncio in many small ways."""

import asyncio

import uvloop
from test_request_limits import (
    server,
    test_a_body_that_stalls_is_answered_408,
    test_a_head_that_does_not_end_is_answered_408,
    test_connections_of_one_address_are_bounded_and_others_get_in,
    test_endless_headers_are_refused,
)

__all__ = [
    "server",
    "test_a_body_that_stalls_is_answered_408",
    "test_a_head_that_does_not_end_is_answered_408",
    "test_connections_of_one_address_are_bounded_and_others_get_in",
    "test_endless_headers_are_refused",
]


async def test_this_is_the_loop() -> None:
    assert isinstance(asyncio.get_running_loop(), uvloop.Loop)

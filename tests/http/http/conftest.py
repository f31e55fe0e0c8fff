"""Event loops: that of asyncio, and by a mark others."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    factories = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    mark = item.get_closest_marker("asyncio")
    names = mark.kwargs.get("loop_factories") if mark else None
    return {name: factories[name] for name in names or ["asyncio"]}

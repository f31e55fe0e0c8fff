"""Container runtimes that an engine offers besides its usual one, such as gVisor's and Kata's.

They are capabilities of its nodes: `runtime:NAME`, and `user-namespaces:NAME` where sessions with it have user
namespaces.
"""

from collections.abc import Collection, Iterable

from carrel.engines.optional import USER_NAMESPACES
from carrel.engines.port import EngineError

_RUNTIME = "runtime:"


def capability(runtime: str) -> str:
    """The capability of nodes that have this runtime."""
    return f"{_RUNTIME}{runtime}"


def user_namespaces(runtime: str) -> str:
    """The capability of nodes where the users of a session with this runtime are others outside it."""
    return f"{USER_NAMESPACES}:{runtime}"


def names(capabilities: Iterable[str]) -> list[str]:
    """The runtimes among these capabilities, by name."""
    return sorted(one.removeprefix(_RUNTIME) for one in capabilities if one.startswith(_RUNTIME))


def required(capabilities: Collection[str], runtime: str | None) -> frozenset[str]:
    """What nodes need for sessions with this runtime, whose group requires these capabilities."""
    if not runtime:
        return frozenset(capabilities)
    isolating = {user_namespaces(runtime)} if USER_NAMESPACES in capabilities else set()
    return frozenset(capabilities) - {USER_NAMESPACES} | isolating | {capability(runtime)}


def lacking(capability: str) -> str:
    """That a node does not have the capability, as a clause."""
    name = capability.partition(":")[2]
    if capability.startswith(_RUNTIME):
        return f"does not have the runtime {name}"
    if name:
        return f"has no user namespaces with the runtime {name}"
    return f"does not have the capability {capability}"


def missing(runtime: str, offered: Iterable[str]) -> EngineError:
    """The error for a runtime that the engine does not have. offered: those that it has."""
    there = ", ".join(sorted(offered)) or "none"
    return EngineError(
        f"The container engine does not have the runtime {runtime}; it has {there}.",
        retriable=True,
    )

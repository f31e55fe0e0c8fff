"""Carrel from Python: a typed SDK, and the `carrel` command on top of it.

    from carrel_client import Carrel

    client = Carrel.from_environment()
    session = client.sessions.create(image="starter", slots={"cpu": 1000, "mem": 1 << 30})
    client.sessions.wait(session["id"])
    print(client.sessions.run(session["id"], ["python3", "--version"]).stdout)

Methods are named after the operations of the HTTP API; answers are its JSON, typed in `carrel_client.models`.
Here belongs what a caller of the API needs; nothing of the server.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from carrel_client.client import Carrel
    from carrel_client.errors import CarrelError

__version__ = "0.5.0"
__all__ = ["Carrel", "CarrelError", "__version__"]


def __getattr__(name: str) -> object:
    # The command starts by importing this package, and must not pay for the SDK before it needs it.
    if name == "Carrel":
        from carrel_client.client import Carrel

        return Carrel
    if name == "CarrelError":
        from carrel_client.errors import CarrelError

        return CarrelError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

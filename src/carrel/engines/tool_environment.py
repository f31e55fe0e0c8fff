"""The environment in which other programs on this machine reach the engine of a session."""

from collections.abc import Mapping


def variables_of(url: str) -> Mapping[str, str]:
    """Variables for programs that use the Docker Engine API. url: of an engine's settings; others have none of it."""
    return {"DOCKER_HOST": url} if url.startswith(("unix:", "tcp:")) else {}

"""Containers on one machine through the Docker Engine API: Docker, or Podman's compatible socket.

Belongs here: all code that depends on Docker. `engine.py` implements the port and reads from top to bottom; the other
modules are its parts. Decision 0002 describes the network isolation of sessions.
"""

from carrel.engines.docker.engine import DockerEngine
from carrel.engines.docker.settings import PLUGIN, DockerSettings

__all__ = ["PLUGIN", "DockerEngine", "DockerSettings"]

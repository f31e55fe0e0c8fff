"""Containers on one machine through the Docker Engine API: Docker, or Podman's compatible socket.

What belongs here: everything that knows a Docker word. `engine.py` is the port and reads from top to bottom;
the other modules are its parts. Decision 0002 says how sessions are kept apart on the network.
"""

from carrel.engines.docker.claim import ANSWERS_WITHIN_S
from carrel.engines.docker.engine import DockerEngine
from carrel.engines.docker.settings import PLUGIN, DockerSettings

__all__ = ["ANSWERS_WITHIN_S", "PLUGIN", "DockerEngine", "DockerSettings"]

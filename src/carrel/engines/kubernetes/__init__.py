"""Containers as pods of a Kubernetes cluster, through its API server.

Belongs here: all code that depends on Kubernetes. `engine.py` implements the port and reads from top to bottom; the
other modules are its parts.
"""

from carrel.engines.kubernetes.engine import KubernetesEngine
from carrel.engines.kubernetes.settings import PLUGIN, KubernetesSettings

__all__ = ["PLUGIN", "KubernetesEngine", "KubernetesSettings"]

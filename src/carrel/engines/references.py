"""Image references in the common syntax: [REGISTRY/]NAME[:TAG][@DIGEST]."""

LOCAL = "localhost"
"""The registry part of images built on the machine, which have no registry."""
DOCKER_HUB = "docker.io"
_ALSO_DOCKER_HUB = ("index.docker.io", "registry-1.docker.io")


def registry_of(reference: str) -> str:
    """The registry (host, or host:port) of the image; LOCAL: none."""
    first, slash, _ = reference.partition("/")
    named = slash and (first == LOCAL or "." in first or ":" in first)
    registry = first.lower() if named else DOCKER_HUB
    return DOCKER_HUB if registry in _ALSO_DOCKER_HUB else registry

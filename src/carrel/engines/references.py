"""Image references in the common syntax: [REGISTRY/]NAME[:TAG][@DIGEST]."""

LOCAL = "localhost"
"""The registry part of images built on the machine, which have no registry."""
_DEFAULT = "docker.io"
_ALSO_DEFAULT = ("index.docker.io", "registry-1.docker.io")


def registry_of(reference: str) -> str:
    """The registry (host, or host:port) of the image; LOCAL: none."""
    first, slash, _ = reference.partition("/")
    named = slash and (first == LOCAL or "." in first or ":" in first)
    registry = first.lower() if named else _DEFAULT
    return _DEFAULT if registry in _ALSO_DEFAULT else registry

"""References to images, as all engines read them: [REGISTRY/]NAME[:TAG][@DIGEST]."""

LOCAL = "localhost"
"""The registry in the references of images that were made on the machine: they come from none."""
_DEFAULT = "docker.io"
_ALSO_DEFAULT = ("index.docker.io", "registry-1.docker.io")


def registry_of(reference: str) -> str:
    """The registry (host, or host:port) that an engine pulls this image from; LOCAL: it pulls from none."""
    first, slash, _ = reference.partition("/")
    named = slash and (first == LOCAL or "." in first or ":" in first)
    registry = first.lower() if named else _DEFAULT
    return _DEFAULT if registry in _ALSO_DEFAULT else registry

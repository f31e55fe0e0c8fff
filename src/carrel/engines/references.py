"""Image references in the common syntax: [REGISTRY/]NAME[:TAG][@DIGEST]."""

from functools import lru_cache

LOCAL = "localhost"
"""The registry part of images built on the machine, which have no registry."""
DOCKER_HUB = "docker.io"
_USUAL_PORT = ":443"
_ALSO_DOCKER_HUB = ("index.docker.io", "registry-1.docker.io")


def repository_of(reference: str) -> str:
    """The repository of the image, without registry, tag and digest; of Docker Hub as it is there (library/debian)."""
    name = reference.partition("@")[0]
    first, slash, rest = name.partition("/")
    if slash and (first == LOCAL or "." in first or ":" in first):
        name = rest
    head, slash, tail = name.rpartition("/")
    name = head + slash + tail.partition(":")[0]
    return f"library/{name}" if registry_of(reference) == DOCKER_HUB and "/" not in name else name


def on_registry(reference: str, host: str) -> str:
    """The same image by another registry, such as a mirror."""
    _, at, digest = reference.partition("@")
    tag = reference.partition("@")[0].rpartition("/")[2].partition(":")[2]
    suffix = f"{at}{digest}" if digest else f":{tag or 'latest'}"
    return f"{host}/{repository_of(reference)}{suffix}"


def registry_of(reference: str) -> str:
    """The registry (host, or host:port unless that is 443) of the image; LOCAL: none."""
    first, slash, _ = reference.partition("/")
    named = slash and (first == LOCAL or "." in first or ":" in first)
    registry = _without_usual_port(first.lower()) if named else DOCKER_HUB
    return DOCKER_HUB if registry in _ALSO_DOCKER_HUB else registry


def canonical_host(host: str) -> str:
    """A registry by itself, as `registry_of` names it: a name without a dot and a port is no host in a reference."""
    return registry_of(f"{host}/x") if "." in host or ":" in host else host


def _without_usual_port(host: str) -> str:
    """Unless the rest would be no host in a reference: `tools:443` is one, `tools` is not."""
    plain = host.removesuffix(_USUAL_PORT)
    return plain if "." in plain or ":" in plain else host


def to_pull(reference: str) -> str:
    """The reference under which engines pull, and credentials apply: without the usual port."""
    first, slash, rest = reference.partition("/")
    return f"{_without_usual_port(first)}/{rest}" if slash else reference


def tag_of(reference: str) -> str:
    """The tag of the image; "latest" if there is neither a tag nor a digest."""
    name, at, _ = reference.partition("@")
    return name.rpartition("/")[2].partition(":")[2] or ("" if at else "latest")


def digest_of(reference: str) -> str:
    """The digest in the reference, such as sha256:...; "" without one."""
    return reference.partition("@")[2]


def with_digest(reference: str, digest: str) -> str:
    """The reference of what its tag meant when it had this digest."""
    return f"{reference.partition('@')[0]}@{digest}"


def spellings(reference: str) -> list[str]:
    """All references of the same image by its tag, the full one first: of Docker Hub, parts can be left out."""
    registry, repository, tag = registry_of(reference), repository_of(reference), tag_of(reference)
    names = [f"{registry}/{repository}"]
    if registry == DOCKER_HUB:
        short = repository.removeprefix("library/")
        hosts = (registry, *_ALSO_DOCKER_HUB)
        names += [f"{host}/{name}" for host in hosts for name in (repository, short)] + [repository, short]
    suffixes = (f":{tag}", "") if tag == "latest" else (f":{tag}",)
    return list(dict.fromkeys(name + suffix for name in names for suffix in suffixes))


@lru_cache(maxsize=8192)
def canonical(reference: str) -> str:
    """The same for all spellings of a reference: with its registry, and its digest or tag."""
    digest = digest_of(reference)
    suffix = f"@{digest}" if digest else f":{tag_of(reference)}"
    return f"{registry_of(reference)}/{repository_of(reference)}{suffix}"


def never_an_id(reference: str) -> str:
    """The same image, as an engine cannot take it for an id of an image, or the beginning of one.

    Ids have no slash: `cafe` and `sha256:cafe` could name images on the node that nobody has a right to. Podman takes
    names without a registry for local ones first.
    """
    first, slash, _ = reference.partition("/")
    if slash:
        named = first == LOCAL or "." in first or ":" in first
        return reference if named else f"{DOCKER_HUB}/{reference}"
    tag = "" if ":" in reference or "@" in reference else ":latest"
    return f"{DOCKER_HUB}/library/{reference}{tag}"

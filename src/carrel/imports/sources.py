"""What an address points to: a notebook, a Git repository, an archive, or a repository of a Hugging Face hub. Pure.

Nothing is fetched, so all of it follows from the text of the address.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from carrel.core.errors import Invalid


class SourceKind(StrEnum):
    """NOTEBOOK: one file. ARCHIVE: zip or tar. MODEL, DATASET, SPACE: of a Hugging Face hub."""

    NOTEBOOK = "notebook"
    GIT = "git"
    ARCHIVE = "archive"
    MODEL = "model"
    DATASET = "dataset"
    SPACE = "space"


HUB_KINDS = (SourceKind.MODEL, SourceKind.DATASET, SourceKind.SPACE)
VERSIONED = (SourceKind.GIT, *HUB_KINDS)
"""Kinds with branches, tags and commits."""


@dataclass(frozen=True, kw_only=True)
class ImportSource:
    """url: what the script opens; of a hub, its endpoint. place: host and path for `permitted`. repository: its id on
    the hub. name: of what is fetched, without characters that shells or pages treat specially. path: a file or
    directory within; "" for all. archive: where a public repository is had without Git; may be empty. guessed: nothing
    in the address tells that this is a Git repository.
    """

    kind: SourceKind
    url: str
    host: str
    place: str
    name: str
    repository: str = ""
    ref: str = ""
    path: str = ""
    archive: str = ""
    guessed: bool = False


_LONGEST_URL = 2000
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*|\[[0-9a-f:.]+\]")
_SCP = re.compile(r"(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/].*)")
_BARE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:\d+)?/.*")
_IN_PATH = "/%:@!$&'()*+,;=~-._"
_ARCHIVES = re.compile(r"\.(zip|tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))$", re.IGNORECASE)
_NOTEBOOK = ".ipynb"
_GITHUB, _GIST, _RAW = "github.com", "gist.github.com", "raw.githubusercontent.com"
_HUBS = {
    "huggingface.co": "huggingface.co",
    "www.huggingface.co": "huggingface.co",
    "hf.co": "huggingface.co",
}
_VIEWERS = ("colab.research.google.com", "nbviewer.org", "nbviewer.jupyter.org")
_HUB_SECTIONS = {"datasets": SourceKind.DATASET, "spaces": SourceKind.SPACE}
_VIEWS = ("tree", "blob", "raw", "resolve", "edit")
_REF_HERE = "{ref}"
_REF = re.compile(r"(?!-)[^\x00-\x20\x7f~^:?*\[\\]{1,255}")
_LONGEST_PATH = 1024


def read(url: str, *, kind: SourceKind | None = None, ref: str = "", path: str = "") -> ImportSource:
    """What the address points to. kind: instead of the one that the address tells. Raises: Invalid."""
    require_ref(ref)
    require_path(path)
    parts = _split(url)
    source = _of_kind(kind, parts, ref) if kind else _recognized(parts, ref)
    require_ref(source.ref)
    source = replace(
        source,
        ref=(ref or source.ref) if source.kind in VERSIONED else "",
        path="" if source.kind == SourceKind.NOTEBOOK else path.strip("/") or source.path,
    )
    require_path(source.path)
    return replace(source, archive=source.archive.replace(_REF_HERE, quote(source.ref or "HEAD")))


def by_ssh(source: ImportSource) -> ImportSource:
    """The Git repository by SSH, as a key opens it."""
    parts = urlsplit(source.url)
    netloc, _, path = source.place.partition("/")
    return replace(
        source,
        url=f"ssh://git@{_without_port(parts.netloc)}{parts.path}",
        place=f"{_without_port(netloc)}/{path}",
        archive="",
    )


def permitted(place: str, rules: Iterable[str]) -> bool:
    """True if a rule permits the source. rules: "host", "host:port" or "host/path", "*." for any subdomain."""
    return any(_fits(place, rule) for rule in rules)


def _fits(place: str, rule: str) -> bool:
    netloc, _, path = place.partition("/")
    host = _without_port(netloc)
    allowed, _, prefix = rule.partition("/")
    named = host.endswith(allowed[1:]) if allowed.startswith("*.") else allowed in (host, netloc)
    prefix = prefix.strip("/")
    return named and f"{path}/".startswith(f"{prefix}/" if prefix else "")


def _without_port(netloc: str) -> str:
    return re.sub(r":\d+$", "", netloc)


def require_ref(ref: str) -> None:
    """Check a branch, tag or commit. Raises: Invalid."""
    strange = ".." in ref or "@{" in ref or "//" in ref or ref.startswith("/")
    if ref and (not _REF.fullmatch(ref) or strange or ref.endswith(("/", ".", ".lock"))):
        raise Invalid(
            "import.bad_ref",
            "This is no name of a branch, tag or commit.",
            hint="Enter it as the repository has it, such as main or v1.2.",
            field="ref",
        )


def require_path(path: str) -> None:
    """Check a path within a source. Raises: Invalid."""
    parts = path.strip("/").split("/")
    if path and (
        len(path) > _LONGEST_PATH
        or any(part in ("", ".", "..") for part in parts)
        or any(ord(letter) < 32 or ord(letter) == 127 for letter in path)
    ):
        raise Invalid(
            "import.bad_path",
            "This is no path within the source.",
            hint="Separate names with /, and do not use . or ..",
            field="path",
        )


def _bad(message: str, hint: str = "Copy the address from the browser.") -> Invalid:
    return Invalid("import.bad_url", message, hint=hint, field="url")


def _split(text: str) -> SplitResult:
    """The address with a scheme, a lower-case host and without a fragment. Raises: Invalid."""
    url = text.strip()
    if not url or len(url) > _LONGEST_URL:
        raise _bad(f"An address has 1 to {_LONGEST_URL} characters.")
    if any(ord(letter) < 32 or ord(letter) == 127 or letter == "\\" for letter in url):
        raise _bad("The address contains a backslash or a control character.")
    if "://" not in url:
        if scp := _SCP.fullmatch(url):
            url = f"ssh://{scp['user']}@{scp['host']}/{scp['path']}"
        elif _BARE.fullmatch(url):
            url = f"https://{url}"
        else:
            raise _bad("The address has no host.", "Begin it with https://.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _bad("This is no address.") from None
    scheme = parts.scheme.lower()
    if scheme not in ("https", "http", "ssh"):
        raise _bad("Only addresses with https, http and ssh can be imported.")
    user, password = parts.username or "", parts.password
    if password is not None or (user and scheme != "ssh"):
        raise Invalid(
            "import.credentials_in_url",
            "The address contains a user name or password.",
            hint="Remove it from the address, and give a token for a private source.",
            field="url",
        )
    if user and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", user):
        raise _bad("This is no address.")
    host = _reachable(parts.hostname or "")
    if any(part in (".", "..") for part in re.split(r"[/\\]", unquote(parts.path))):
        raise _bad("The address contains . or .. as a name.")
    netloc = f"{user}@{host}" if user else host
    netloc += f":{port}" if port is not None else ""
    path, query = quote(parts.path, safe=_IN_PATH), quote(parts.query, safe=_IN_PATH + "?")
    return SplitResult(scheme, netloc, path, query, "")


def _reachable(hostname: str) -> str:
    host = hostname.lower().rstrip(".")
    if ":" in host:
        host = f"[{host}]"
    if not _HOST.fullmatch(host):
        raise _bad("The address has no valid host.", "Write names with other letters in their xn-- form.")
    try:
        ip = ipaddress.ip_address(host.strip("[]"))
        local = ip.is_loopback or ip.is_unspecified
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    if local:
        raise Invalid(
            "import.not_reachable",
            f"A session cannot reach {host}: for it, that is the session itself.",
            hint="Use an address that other machines reach.",
            field="url",
        )
    return host


def _recognized(parts: SplitResult, ref: str) -> ImportSource:
    """Raises: Invalid."""
    host = parts.hostname or ""
    names = [part for part in parts.path.split("/") if part]
    if host in _VIEWERS and names[:1] == ["github"]:
        return _github(names[1:], parts, ref)
    if host == f"www.{_GITHUB}" or host == _GITHUB:
        return _github(names, parts, ref)
    if host == _RAW and len(names) > 3:
        place = f"{_GITHUB}/{'/'.join(names)}"
        return replace(_by_suffix(parts), place=place)
    if host == _GIST and names and parts.scheme != "ssh":
        gist = names[min(len(names), 2) - 1].removesuffix(".git")
        return _git(
            parts, f"https://{_GIST}/{gist}.git", f"gist-{gist[:12]}", place=f"{_GIST}/{'/'.join(names)}"
        )
    if host in _HUBS:
        return _hub(None, parts, ref)
    return _elsewhere(names, parts, ref)


def _of_kind(kind: SourceKind, parts: SplitResult, ref: str) -> ImportSource:
    """Raises: Invalid."""
    if kind in HUB_KINDS:
        return _hub(kind, parts, ref)
    try:
        source = _recognized(parts, ref)
    except Invalid:
        source = None
    if source and source.kind == kind:
        return source
    if kind == SourceKind.GIT:
        return _git(parts, _plain(parts), _last(parts))
    # Of a page that shows a file, the file itself.
    return _file(kind, parts._replace(path=parts.path.replace("/blob/", "/raw/", 1)))


def _github(names: list[str], parts: SplitResult, ref: str) -> ImportSource:
    if len(names) < 2:
        raise _bad("This is no repository.", "Enter an address such as https://github.com/OWNER/REPOSITORY.")
    owner, repository = names[0], names[1].removesuffix(".git")
    place = f"{_GITHUB}/{owner}/{repository}"
    if parts.scheme != "ssh" and names[2:3] in (["archive"], ["releases"]) and _ARCHIVES.search(names[-1]):
        return replace(_file(SourceKind.ARCHIVE, parts), place=place, name=_name(repository))
    base = f"https://{_GITHUB}/{owner}/{repository}"
    url = _plain(parts) if parts.scheme == "ssh" else f"{base}.git"
    source = _git(parts, url, repository, place=place, archive=f"{base}/archive/{_REF_HERE}.tar.gz")
    return _at(source, names[3:], ref) if names[2:3] and names[2] in _VIEWS else source


def _hub(kind: SourceKind | None, parts: SplitResult, ref: str) -> ImportSource:
    names = [part for part in parts.path.split("/") if part]
    section = _HUB_SECTIONS.get(names[0]) if names else None
    names = names[1:] if section else names
    view = next((at for at, name in enumerate(names[:3]) if name in _VIEWS and at), None)
    owned, tail = (names[:view], names[view + 1 :]) if view else (names, [])
    if parts.scheme == "ssh" or not 1 <= len(owned) <= 2 or owned[0] in ("docs", "blog", "papers", "models"):
        raise _bad(
            "This is no repository of a Hugging Face hub.",
            "Enter an address such as https://huggingface.co/datasets/OWNER/NAME.",
        )
    host = _HUBS.get(parts.hostname or "", parts.hostname or "")
    endpoint = f"https://{host}" if host in _HUBS else f"{parts.scheme}://{parts.netloc}"
    repository = "/".join(owned)
    shelf = next((f"{name}/" for name, one in _HUB_SECTIONS.items() if one == (kind or section)), "")
    source = ImportSource(
        kind=kind or section or SourceKind.MODEL,
        url=endpoint,
        host=host,
        place=f"{endpoint.partition('://')[2]}/{shelf}{repository}",
        name=_name(owned[-1]),
        repository=repository,
    )
    return _at(source, tail, ref) if tail else source


def _elsewhere(names: list[str], parts: SplitResult, ref: str) -> ImportSource:
    """Any other host: GitLab, Gitea and Bitbucket by the form of the path, else by its end."""
    if parts.scheme == "ssh":
        if not names:
            raise _bad("This is no repository.")
        return _git(parts, _plain(parts), _last(parts))
    if "-" in names[2:-1] and names[names.index("-", 2) + 1] in (*_VIEWS, "archive"):
        at = names.index("-", 2)
        if names[at + 1] == "archive":
            return _file(SourceKind.ARCHIVE, parts)
        base = _cut(parts, names[:at])
        archive = f"{base}/-/archive/{_REF_HERE}/{names[at - 1]}.tar.gz"
        return _at(_git(parts, f"{base}.git", names[at - 1], archive=archive), names[at + 2 :], ref)
    if names[2:3] == ["src"] and names[3:4] and names[3] in ("branch", "tag", "commit"):
        base = _cut(parts, names[:2])
        archive = f"{base}/archive/{_REF_HERE}.tar.gz"
        return _at(_git(parts, f"{base}.git", names[1], archive=archive), names[4:], ref)
    if parts.hostname == "bitbucket.org" and names[2:3] == ["src"]:
        return _at(_git(parts, f"{_cut(parts, names[:2])}.git", names[1]), names[3:], ref)
    return _by_suffix(parts)


def _by_suffix(parts: SplitResult) -> ImportSource:
    path = unquote(parts.path).rstrip("/")
    if path.lower().endswith(_NOTEBOOK):
        return _file(SourceKind.NOTEBOOK, parts)
    if _ARCHIVES.search(path):
        return _file(SourceKind.ARCHIVE, parts)
    if path.endswith(".git"):
        return _git(parts, _plain(parts), _last(parts))
    if path.count("/") < 2:
        raise _bad(
            "This address is neither a notebook, a repository nor an archive.",
            "A notebook ends in .ipynb, an archive in .zip or .tar.gz; otherwise say what it is.",
        )
    archive = (
        f"{_plain(parts).rstrip('/')}/-/archive/{_REF_HERE}/x.tar.gz"
        if "gitlab" in (parts.hostname or "")
        else ""
    )
    return replace(_git(parts, _plain(parts), _last(parts), archive=archive), guessed=not archive)


def _at(source: ImportSource, tail: list[str], ref: str) -> ImportSource:
    """The source at what follows tree/ or blob/ in an address. A branch with a slash is known only if it is given."""
    rest = "/".join(unquote(part) for part in tail)
    if ref and f"{rest}/".startswith(f"{ref}/"):
        return replace(source, ref=ref, path=rest[len(ref) :].strip("/"))
    if source.kind in HUB_KINDS and rest.startswith("refs/"):
        return replace(source, ref="/".join(rest.split("/")[:3]), path="/".join(rest.split("/")[3:]))
    first, _, path = rest.partition("/")
    return replace(source, ref=first, path=path.strip("/"))


def _git(parts: SplitResult, url: str, name: str, *, place: str = "", archive: str = "") -> ImportSource:
    return ImportSource(
        kind=SourceKind.GIT,
        url=url,
        host=urlsplit(url).hostname or "",
        place=place or _place(urlsplit(url)),
        name=_name(name.removesuffix(".git")),
        archive=archive,
    )


def _file(kind: SourceKind, parts: SplitResult) -> ImportSource:
    if parts.scheme == "ssh" or not parts.path.strip("/"):
        raise _bad(
            "Only a Git repository is fetched by ssh." if parts.scheme == "ssh" else "This is no file."
        )
    name = unquote(parts.path.rstrip("/").rpartition("/")[2])
    if kind == SourceKind.NOTEBOOK:
        name = f"{_name(re.sub(r'(?i)[.]ipynb$', '', name))}{_NOTEBOOK}"
    else:
        name = _name(_ARCHIVES.sub("", name))
    return ImportSource(
        kind=kind,
        url=urlunsplit(parts),
        host=parts.hostname or "",
        place=_place(parts),
        name=name,
    )


def _place(parts: SplitResult) -> str:
    return f"{parts.netloc.rpartition('@')[2]}/{parts.path.strip('/').removesuffix('.git')}"


def _plain(parts: SplitResult) -> str:
    return urlunsplit(parts._replace(query=""))


def _cut(parts: SplitResult, names: list[str]) -> str:
    return urlunsplit(parts._replace(path="/" + "/".join(names), query=""))


def _last(parts: SplitResult) -> str:
    return unquote(parts.path.rstrip("/").rpartition("/")[2])


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:48].strip("-.") or "import"

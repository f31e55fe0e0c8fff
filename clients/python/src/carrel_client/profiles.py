"""Stored keypairs of the local user: one file per profile, readable only by its owner."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping

from carrel_client.errors import CarrelError

DEFAULT = "default"
_VARIABLES = ("CARREL_URL", "CARREL_ACCESS_KEY", "CARREL_SECRET_KEY")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Profile:
    """A server with a keypair or token. name: None if it is from the environment. email: of the user."""

    __slots__ = ("access_key", "email", "name", "secret_key", "token", "url")

    def __init__(
        self,
        name: str | None,
        *,
        url: str,
        access_key: str = "",
        secret_key: str = "",
        token: str | None = None,
        email: str | None = None,
    ) -> None:
        self.name = name
        self.url = url
        self.access_key = access_key
        self.secret_key = secret_key
        self.token = token
        self.email = email


def resolve(name: str | None, environ: Mapping[str, str]) -> Profile:
    """The profile to use: the named one, else the environment's keypair, else CARREL_PROFILE, else "default".

    CARREL_TOKEN replaces a keypair. CARREL_URL without either selects the profile of that server.
    Raises: CarrelError with status 401 if there is none, 422 if the environment's is incomplete.
    """
    given = [environ.get(variable, "") for variable in _VARIABLES]
    token = environ.get("CARREL_TOKEN")
    if name is None and given[0] and token:
        return Profile(None, url=given[0], token=token)
    if name is None and any(given[1:]):
        missing = [variable for variable, value in zip(_VARIABLES, given, strict=True) if not value]
        if missing:
            raise CarrelError(
                "client.keypair_incomplete",
                f"The environment has an incomplete keypair; {' and '.join(missing)} is missing.",
                status=422,
                hint=f"Set all of {', '.join(_VARIABLES)}, or none.",
            )
        return Profile(None, url=given[0], access_key=given[1], secret_key=given[2])
    profile = name or environ.get("CARREL_PROFILE") or DEFAULT
    if name is None and given[0]:
        return _of_server(given[0], profile, environ)
    known = load(profile, environ)
    if known is None:
        raise CarrelError(
            "client.not_signed_in",
            "You are not signed in." if profile == DEFAULT else f"There is no profile {profile!r}.",
            status=401,
            hint="carrel login URL --email E" + ("" if profile == DEFAULT else f" --profile {profile}"),
        )
    return known


def names(environ: Mapping[str, str]) -> list[str]:
    """The names of the stored profiles, in alphabetical order."""
    try:
        files = os.listdir(_folder(environ))
    except OSError:
        return []
    return sorted(file.removesuffix(".json") for file in files if file.endswith(".json"))


def _of_server(url: str, preferred: str, environ: Mapping[str, str]) -> Profile:
    """The profile of that server; of several, the preferred one or the first.

    Raises: CarrelError with status 401 if there is none.
    """
    from carrel_client.wire import address

    server = address(url)
    kept = names(environ)
    for name in sorted(kept, key=lambda name: name != preferred):
        try:
            known = load(name, environ)
        except CarrelError:
            if name == preferred:
                raise
            continue  # not the requested one
        if known is not None and known.url == server:
            return known
    raise CarrelError(
        "client.not_signed_in",
        f"CARREL_URL names {server}, but CARREL_ACCESS_KEY and CARREL_SECRET_KEY are missing, "
        "and no profile is signed in to it.",
        status=401,
        hint=f"carrel login {server}" + (" --profile NAME" if DEFAULT in kept else ""),
    )


def load(name: str, environ: Mapping[str, str]) -> Profile | None:
    """The stored profile, None when there is none.

    Raises: CarrelError when others can read the file, or when it is damaged.
    """
    path = path_of(name, environ)
    try:
        with open(path, encoding="utf-8") as file:
            shared = os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077
            text = file.read()
    except FileNotFoundError:
        return None
    if shared:
        raise CarrelError(
            "client.profile_shared",
            f"Others on this machine can read {path}, which holds a secret.",
            status=403,
            hint=f"chmod 600 {path}",
        )
    try:
        kept = json.loads(text)
        return Profile(
            name,
            url=str(kept["url"]),
            access_key=str(kept["access_key"]),
            secret_key=str(kept["secret_key"]),
            email=kept.get("email"),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CarrelError(
            "client.profile_damaged",
            f"{path} is damaged.",
            status=422,
            hint="Sign in again with carrel login.",
        ) from None


def save(profile: Profile, environ: Mapping[str, str]) -> str:
    """Store the profile atomically; returns its path."""
    path = path_of(profile.name or DEFAULT, environ)
    folder = os.path.dirname(path)
    for private in (os.path.dirname(folder), folder):
        os.makedirs(private, exist_ok=True)
        os.chmod(private, 0o700)
    content = {
        "url": profile.url,
        "email": profile.email,
        "access_key": profile.access_key,
        "secret_key": profile.secret_key,
    }
    draft = f"{path}.{os.getpid()}.new"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    return path


def remove(name: str, environ: Mapping[str, str]) -> None:
    """Delete the profile. Absent: no-op."""
    try:
        os.unlink(path_of(name, environ))
    except FileNotFoundError:
        pass


def path_of(name: str, environ: Mapping[str, str]) -> str:
    """The path of a profile's file. Raises: CarrelError for a name that could leave the directory."""
    if not name or name.startswith((".", "-")) or not _LETTERS.issuperset(name):
        raise CarrelError(
            "client.profile_name",
            f"{name!r} is not a name for a profile.",
            status=422,
            hint="Use letters, digits, dots, dashes and underscores.",
        )
    return os.path.join(_folder(environ), f"{name}.json")


def _folder(environ: Mapping[str, str]) -> str:
    if sys.platform == "win32":
        home = environ.get("APPDATA") or os.path.expanduser("~")
    else:
        home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "carrel", "profiles")

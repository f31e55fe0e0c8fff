"""What goes wrong with registries, in sentences for people."""

ENDS_ALL = ("registry.busy", "registry.unreachable", "registry.untrusted", "registry.private")
"""Errors of the registry as a whole: other repositories would have them, too."""


class RegistryError(Exception):
    """The registry cannot be used as requested. retriable: later it may; code: as in docs/reference/errors.md."""

    def __init__(self, code: str, message: str, *, retriable: bool = False) -> None:
        super().__init__(message)
        self.code = f"registry.{code}"
        self.message = message
        self.retriable = retriable


class NotListed(RegistryError):
    """The registry does not list its repositories. namespaced: only those of a namespace."""

    def __init__(self, host: str, *, namespaced: bool = False) -> None:
        sentence = f"{host} does not list its repositories. Name them in the list of repositories."
        if namespaced:
            sentence = (
                f"{host} lists only the repositories of a namespace: an organization, group or account. "
                "Set it, or begin each name in the list of repositories with one."
            )
        super().__init__("not_listed", sentence)


def denied(host: str, status: int, *, signed_in: bool) -> RegistryError:
    """The error for a refused request."""
    if signed_in:
        return RegistryError("denied", f"{host} does not permit it to this user name and secret ({status}).")
    return RegistryError("denied", f"{host} does not permit it without credentials ({status}).")


def missing(host: str, path: str) -> RegistryError:
    """The error for something that the registry does not have."""
    return RegistryError("missing", f"{host} has no {path}.")


def broken(host: str, what: str) -> RegistryError:
    """The error for a response that is not what the protocol says."""
    return RegistryError("broken", f"{host} sent something else than a registry does: {what}.")

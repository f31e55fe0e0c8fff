"""Failed pushes of images, from the message of the engine or its registry."""

import re

from carrel.engines.port import EngineError
from carrel.engines.references import registry_of

_QUOTA = re.compile(
    r"quota|storage limit|storage resource|insufficient storage|too large|no space left|disk full",
    re.IGNORECASE,
)
_TLS = re.compile(
    r"x509|certificate|server gave HTTP response|does not look like a TLS handshake", re.IGNORECASE
)
_DENIED = re.compile(
    r"denied|unauthorized|authentication|forbidden|credentials|insufficient_scope", re.IGNORECASE
)
_IMMUTABLE = re.compile(r"immutable|already exists", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"name unknown|not known to registry|does not exist|name invalid|not found", re.IGNORECASE
)
_BUSY = re.compile(r"toomanyrequests|too many requests|rate limit", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"no such host|connection refused|i/o timeout|Client\.Timeout|dial tcp|handshake timeout|unreachable|"
    r"reset by peer|\bEOF\b",
    re.IGNORECASE,
)


def push_error(target: str, text: str) -> EngineError:
    """The error for a failed push, with a remedy. Only those that pass by themselves are retriable."""
    registry, cause = registry_of(target), text.strip().rstrip(".")
    for pattern, code, reason in (
        (_BUSY, "registry_busy", f"{registry} takes no more requests for now"),
        (
            _QUOTA,
            "push_quota",
            f"{registry} has no room for it. Delete images there, or ask for a larger quota",
        ),
        (
            _TLS,
            "push_tls",
            f"the engine does not trust {registry}. Its administrator adds the registry's authority there, or "
            "permits it as an insecure registry",
        ),
        (_UNREACHABLE, "registry_unavailable", f"the engine cannot reach {registry}"),
        (
            _IMMUTABLE,
            "push_immutable",
            f"{registry} does not let the tag be replaced. Choose another tag",
        ),
        (
            _DENIED,
            "push_denied",
            f"{registry} does not let the registry's account write there. Whoever administers the registry checks its "
            "user name and secret, and the account's rights",
        ),
        (
            _UNKNOWN,
            "push_no_repository",
            f"{registry} has no such repository, and does not create it. Create it there first",
        ),
    ):
        if pattern.search(cause):
            return EngineError(
                f"{target} could not be pushed: {reason} ({cause}).",
                retriable=code in ("registry_busy", "registry_unavailable"),
                code=code,
            )
    return EngineError(f"{target} could not be pushed: {cause}.", retriable=True, code="push_failed")

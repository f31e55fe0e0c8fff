"""Failed pushes of images, from the message of the engine or its registry."""

import re
from typing import NamedTuple

from carrel.engines.port import EngineError
from carrel.engines.references import registry_of

_LONGEST_CAUSE = 2000


class PushFailure(NamedTuple):
    """pattern: of the message. reason: a clause, with {registry}. retriable: it passes by itself."""

    code: str
    pattern: str
    reason: str
    retriable: bool = False


_FAILURES = (
    PushFailure(
        "registry_busy",
        r"toomanyrequests|too many requests|rate limit",
        "{registry} takes no more requests for now",
        retriable=True,
    ),
    PushFailure(
        "push_quota",
        r"quota|storage limit|storage resource|insufficient storage|too large|no space left|disk full",
        "{registry} has no room for it. Delete images there, or ask for a larger quota",
    ),
    PushFailure(
        "push_tls",
        r"x509|certificate|server gave HTTP response|does not look like a TLS handshake",
        "the engine does not trust {registry}. Its administrator adds the registry's authority there, or "
        "permits it as an insecure registry",
    ),
    PushFailure(
        "registry_unavailable",
        r"no such host|connection refused|i/o timeout|Client\.Timeout|dial tcp|handshake timeout|unreachable|"
        r"reset by peer|\bEOF\b",
        "the engine cannot reach {registry}",
        retriable=True,
    ),
    PushFailure(
        "push_immutable",
        r"immutable|already exists",
        "{registry} does not let the tag be replaced. Choose another tag",
    ),
    PushFailure(
        "push_denied",
        r"denied|unauthorized|authentication|forbidden|credentials|insufficient_scope",
        "{registry} does not let the registry's account write there. Whoever administers the registry checks its "
        "user name and secret, and the account's rights",
    ),
    PushFailure(
        "push_no_repository",
        r"name unknown|not known to registry|does not exist|name invalid|not found",
        "{registry} has no such repository, and does not create it. Create it there first",
    ),
)


def name_in_use(target: str) -> EngineError:
    """The error for a push under a name that another image has on the engine."""
    return EngineError(
        f"{target} could not be pushed: the engine has another image of that name, from which sessions may start. "
        "Choose another tag, or have that image removed from the engine.",
        retriable=False,
        code="push_name_in_use",
    )


def push_error(target: str, text: str) -> EngineError:
    """The error for a failed push, with a remedy. Only those that pass by themselves are retriable."""
    # What a registry sends may be no text for the database.
    cause = text.encode(errors="replace").decode().replace("\0", "").strip().rstrip(".")[:_LONGEST_CAUSE]
    for failure in _FAILURES:
        if re.search(failure.pattern, cause, re.IGNORECASE):
            reason = failure.reason.format(registry=registry_of(target))
            return EngineError(
                f"{target} could not be pushed: {reason} ({cause}).",
                retriable=failure.retriable,
                code=failure.code,
            )
    return EngineError(f"{target} could not be pushed: {cause}.", retriable=True, code="push_failed")

"""What registries and engines say when a push fails, and what people read."""

import pytest

from carrel.engines.pushing import push_error


@pytest.mark.parametrize(
    ("text", "code", "retriable"),
    [
        ("denied: requested access to the resource is denied", "push_denied", False),
        ("unauthorized: authentication required", "push_denied", False),
        ("no basic auth credentials", "push_denied", False),
        (
            "denied: adding 3.1 MiB of storage resource, which when updated to current usage of 10.0 GiB will exceed "
            "the configured upper limit of 10.0 GiB.",
            "push_quota",
            False,
        ),
        ("received unexpected HTTP status: 507 Insufficient Storage", "push_quota", False),
        ("error parsing HTTP 413 response body: 413 Request Entity Too Large", "push_quota", False),
        ("x509: certificate signed by unknown authority", "push_tls", False),
        ("http: server gave HTTP response to HTTPS client", "push_tls", False),
        ("Get https://r/v2/: net/http: TLS handshake timeout", "registry_unavailable", True),
        ("dial tcp 127.0.0.1:1: connect: connection refused", "registry_unavailable", True),
        ("dial tcp: lookup r.example.org: no such host", "registry_unavailable", True),
        ("toomanyrequests: retry-after: 1s", "registry_busy", True),
        ("name unknown: The repository with name 'torch' does not exist", "push_no_repository", False),
        (
            "tag invalid: The image tag '1' already exists in the 'torch' repository and cannot be overwritten "
            "because the repository is immutable.",
            "push_immutable",
            False,
        ),
        ("received unexpected HTTP status: 502 Bad Gateway", "push_failed", True),
    ],
)
def test_only_what_passes_by_itself_is_tried_again(text: str, code: str, retriable: bool) -> None:
    error = push_error("registry.example.org/team/torch:1", text)
    assert (error.code, error.retriable) == (code, retriable)
    assert error.message.startswith("registry.example.org/team/torch:1 could not be pushed: ")
    assert text.rstrip(".") in error.message


def test_the_words_of_a_registry_can_be_stored() -> None:
    message = push_error("registry.example.org/team/torch:1", "no\0 \ud800" + "x" * 100_000).message
    assert message.isprintable()
    assert "no ?xxx" in message
    assert len(message) < 3000

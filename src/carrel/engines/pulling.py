"""Failed image pulls, from the message of the engine or its registry."""

import re

from carrel.engines.port import EngineError, ImageUnusable

_UNREACHABLE = re.compile(
    r"no such host|connection refused|i/o timeout|Client\.Timeout|dial tcp|TLS handshake|unreachable|EOF|"
    r"x509|server gave HTTP response to HTTPS client",
    re.IGNORECASE,
)


def pull_error(image: str, text: str) -> EngineError:
    """The error for a failed pull, with a remedy."""
    registry = _registry(image)
    if "invalid reference format" in text or "must be lowercase" in text:
        return ImageUnusable(f"{image!r} is not a valid image name; write for example python:3.12.")
    if re.search(r"manifest (for .* )?(not found|unknown)|manifest unknown|name unknown|: not found$", text):
        return ImageUnusable(f"There is no image named {image} in its registry ({registry}).")
    if re.search(r"pull access denied|unauthorized|denied|authentication required", text):
        return ImageUnusable(
            f"The registry {registry} has no image named {image}, or does not let this installation pull it."
        )
    if "no matching manifest" in text or "does not match the specified platform" in text:
        return ImageUnusable(f"The image {image} does not support the architecture of this machine.")
    if "toomanyrequests" in text or "rate limit" in text:
        return _later(f"The registry {registry} refuses more pulls for now (rate limit).", "registry_busy")
    if "no space left on device" in text:
        return _later(f"The disk is full: the image {image} does not fit.", "disk_full")
    if _UNREACHABLE.search(text):
        return _later(
            f"No registry answered for the image {image}: this machine cannot reach {registry}. "
            "Check the name, or load the image into the engine by hand.",
            "registry_unavailable",
        )
    return _later(f"The image {image} could not be pulled: {text.rstrip('.')}.", "pull_failed")


def _later(message: str, code: str) -> EngineError:
    return EngineError(message, retriable=True, code=code)


def _registry(image: str) -> str:
    first, slash, _ = image.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    return first if named else "docker.io"

"""Host names, addresses and architectures."""

import ipaddress

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7l"}


def architecture(reported: str | None) -> str:
    """The normalized architecture: machines report x86_64, images amd64. "" if unknown."""
    return _ARCHITECTURES.get(reported or "", reported or "")


def is_this_machine(host: str) -> bool:
    """True for names and addresses of the local machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def literal(host: str) -> str:
    """The host in the syntax of URLs."""
    return f"[{host}]" if ":" in host else host

"""Names and addresses of machines."""

import ipaddress

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7l"}


def architecture(said: str | None) -> str:
    """Of a processor, by one name for each: machines say x86_64, images amd64. "" when nothing was said."""
    return _ARCHITECTURES.get(said or "", said or "")


def is_this_machine(host: str) -> bool:
    """True of names and addresses by which a machine reaches only itself."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def literal(host: str) -> str:
    """The host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host

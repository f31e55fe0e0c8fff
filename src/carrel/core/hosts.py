"""Names and addresses of machines."""

import ipaddress


def is_this_machine(host: str) -> bool:
    """True of names and addresses by which a machine reaches only itself."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def literal(host: str) -> str:
    """The host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host

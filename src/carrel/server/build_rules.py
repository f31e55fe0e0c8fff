"""Rules of builds of environments: limits from settings, and what this machine trusts and uses."""

import ssl
from pathlib import Path

from carrel.builds.building import BuildRules
from carrel.engines.optional import BuildLimits
from carrel.server.bootstrap.authorities import extra_authorities
from carrel.server.bootstrap.image_build import PUBLIC_INDEX, proxies, python_index
from carrel.server.settings import Settings


def build_rules(settings: Settings) -> BuildRules:
    """The rules, as they are now."""
    index = python_index(_silent)
    channels = settings.build_conda_channels
    mirror = {"MAMBA_CHANNEL_ALIAS": channels, "CONDA_CHANNEL_ALIAS": channels} if channels else {}
    indexes = {"PIP_INDEX_URL": index, "UV_DEFAULT_INDEX": index} if index != PUBLIC_INDEX else {}
    return BuildRules(
        limits=BuildLimits(
            cpu_millis=round(settings.build_cpus * 1000),
            mem_bytes=settings.build_mem_mib << 20,
            disk_bytes=settings.build_disk_mib << 20,
            time_s=settings.build_minutes * 60,
        ),
        at_once=settings.builds,
        arguments={**proxies(), **indexes, **mirror},
        authorities=_authorities(),
    )


def _authorities() -> bytes:
    """Public and own ones; empty if this machine has none of its own."""
    extra = extra_authorities()
    if not extra:
        return b""
    public = Path(ssl.get_default_verify_paths().openssl_cafile)
    bundles = (public, Path("/etc/ssl/certs/ca-certificates.crt"), Path("/etc/pki/tls/certs/ca-bundle.crt"))
    bundle = next((path.read_bytes() for path in bundles if path.is_file()), b"")
    return bundle + b"\n" + b"".join(extra.values())


def _silent(_: str) -> None: ...

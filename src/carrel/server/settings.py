"""Settings from the environment (CARREL_...), with defaults for a single machine."""

import ipaddress
import os
import re
import secrets
import shlex
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from carrel.core.errors import Invalid
from carrel.core.host_names import is_this_machine, literal
from carrel.http.guard import LOOPBACK
from carrel.scanners.scanner import PLACEHOLDER, Scanner
from carrel.server.grammar import LAST_PORT

_USUAL_PORT = 8700
_KEY_BYTES = 32
_PORTS = {"http": 80, "https": 443}
_WILDCARDS = ("0.0.0.0", "::")
_OUTSIDE = ("192.0.2.1", 9)
"""An address that nobody has (RFC 5737)."""
_SAYS_NOTHING = ("127.0.0.1", "::1", *_WILDCARDS)


def default_data_dir() -> Path:
    """The default data directory: /var/lib/carrel for root, else the user's own data directory."""
    if os.geteuid() == 0:
        return Path("/var/lib/carrel")
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "carrel"


class Settings(BaseSettings):
    """Settings shared by all processes of an installation. Every field is documented in docs/reference/settings.md."""

    model_config = SettingsConfigDict(env_prefix="CARREL_", extra="ignore")

    data_dir: Path = Field(default_factory=default_data_dir, description="The data directory.")
    database_url: str = Field(default="", description="Your own PostgreSQL; empty: the embedded one.")
    key_file: str = Field(
        default="",
        description="File of the installation's key, 32 bytes; empty: `key` in the data directory.",
    )
    engine_url: str = Field(
        default="unix:///var/run/docker.sock",
        description="The container engine; kubernetes:SESSIONS/OWN: the cluster in which Carrel itself "
        "runs, by the namespaces of the sessions and of Carrel; more settings of the engine follow as ?NAME=VALUE.",
    )
    folders_location: str = Field(
        default="",
        description="Where that engine has the folders of the data directory, as a location of a storage host, such as "
        "volume://CLAIM/folders; nowhere: not at all, unless a location is set; empty: as it is set.",
    )
    kubeconfig_commands: str = Field(
        default="",
        description="Programs that kubeconfigs of engines may run on this machine, separated by commas.",
    )
    host: str = Field(default="127.0.0.1", description="Address that the page, the API and apps listen on.")
    port: int = Field(default=_USUAL_PORT, ge=1, le=LAST_PORT, description="Port of the page and the API.")
    gateway_port: int = Field(
        default=0, ge=0, le=65535, description="Port of the apps' gateway; 0: the port after `port`."
    )
    apps_domain: str = Field(default="localhost", description="Apps are at <app>-<session>.<this domain>.")
    public_url: str = Field(default="", description="Public URL of the page; empty: host and port.")
    apps_url: str = Field(
        default="",
        description="Public scheme, domain and port of apps behind a reverse proxy, such as "
        "https://apps.example.org; empty: http or https, apps_domain and gateway_port.",
    )
    app_ports: str = Field(
        default="",
        description="Ports of apps for browsers that use an address instead of a name, such as "
        "8710-8749; empty: forty above `port`, if needed.",
    )
    tls_cert: str = Field(
        default="",
        description="TLS certificate of the page, the API and apps (PEM, followed by the intermediate certificates); "
        "empty: plain HTTP. Reloaded when it changes.",
    )
    tls_key: str = Field(default="", description="Its private key (PEM, without a password).")
    ssh_port: int = Field(
        default=0,
        ge=-1,
        lt=1 << 16,
        description="Port of SSH to sessions, served by the gateway; 0: the second after the gateway's, if it is "
        "free; -1: none.",
    )
    ssh_address: str = Field(
        default="",
        description="Host at which people reach SSH, with a port if it is another one, such as ssh.example.org:22; "
        "empty: the page's host.",
    )
    ssh_port_forwarding: bool = Field(
        default=True,
        description="SSH clients may forward local ports to ports of their sessions, and ports of sessions to theirs.",
    )
    ssh_agent_forwarding: bool = Field(
        default=True, description="SSH clients may let sessions use the keys of their SSH agent."
    )
    trusted_proxies: str = Field(
        default="",
        description="Addresses and networks of your reverse proxies, such as 127.0.0.1,10.0.0.0/8, whose "
        "X-Forwarded-For and X-Forwarded-Proto are trusted; empty: none.",
    )
    internal_url: str = Field(
        default="",
        description="URL at which the other copies of the API reach this one, such as http://10.0.0.5:8700; empty: "
        "host and port, or the address of this machine's name if the host is not specific; where that is a loopback "
        "address, as on Debian, the address from which this machine reaches others.",
    )
    metrics_port: int = Field(
        default=0,
        ge=0,
        lt=1 << 16,
        description="Port of GET /metrics and probes in a process that runs the controllers without the API; 0: none. "
        "The API and the gateway serve theirs on their own ports.",
    )
    connections_per_address: int = Field(
        default=512,
        ge=0,
        description="Maximum number of connections of a client address to the page and the API, and as many to apps; "
        "0: unlimited. Localhost and trusted_proxies are exempt.",
    )
    installation: str = Field(
        default="",
        description="Label of this installation's containers in the engine; empty: generated.",
    )
    app_layer: bool = Field(
        default=True,
        description="Build the app layer, which gives every image JupyterLab, VS Code and more, and mount it.",
    )
    image_scanner: str = Field(
        default="",
        description="Command that scans an image for packages and known vulnerabilities, such as trivy image --quiet "
        "--format cyclonedx --scanners vuln {reference}; its output is CycloneDX, or JSON of Trivy or Grype. It runs "
        "where the controllers run, with their environment except CARREL_*. Empty: images are not scanned.",
    )
    image_scanner_timeout_s: int = Field(
        default=900, ge=10, le=86_400, description="Seconds after which a scan is ended."
    )
    image_scanner_memory_bytes: int = Field(
        default=4 << 30, ge=64 << 20, description="Most memory of each process of the scanner."
    )
    builds: int = Field(
        default=2, ge=0, le=100, description="Builds of environments at once, one for each person; 0: none."
    )
    build_cpus: float = Field(default=2.0, gt=0, le=256, description="CPUs that a step of a build may use.")
    build_mem_mib: int = Field(
        default=4096, ge=64, le=1 << 22, description="Memory that a step of a build may use, in MiB."
    )
    build_disk_mib: int = Field(
        default=20480, ge=64, le=1 << 26, description="Disk space that a build may write, in MiB."
    )
    build_minutes: int = Field(default=60, ge=1, le=10080, description="Minutes that a build may take.")
    build_micromamba: str = Field(
        default="https://github.com/mamba-org/micromamba-releases/releases/latest/download/micromamba-{platform}",
        min_length=1,
        max_length=512,
        pattern=r"^[A-Za-z0-9._~:/@%{}-]+$",
        description="Where builds from environment.yml get micromamba: an address from which they fetch it unless the "
        "image below has it, with {platform} for linux-64, linux-aarch64 or linux-ppc64le; or an image that has "
        "/bin/micromamba, such as mambaorg/micromamba:2, which the user must be permitted to use.",
    )
    build_conda_channels: str = Field(
        default="",
        max_length=512,
        pattern=r"^(https?://[^\s]+)?$",
        description="Address below which builds find conda channels such as conda-forge, for a mirror. Empty: "
        "https://conda.anaconda.org.",
    )
    fake_accelerators: int = Field(
        default=0, ge=0, le=64, description="Number of simulated accelerators, for testing only."
    )
    simulated_accelerators: str = Field(
        default="",
        description="Accelerators of a simulated machine, such as h100x8,gaudi3x8, for trying out: sessions get their "
        "variables, and plain files as their device files.",
    )
    accelerators: dict[str, dict[str, Any]] = Field(
        default={},
        description='Settings of kinds of accelerators, as JSON: {"fake": {"count": 4, "units": 2}}. Every '
        "installed kind discovers its devices, with or without settings.",
    )

    @property
    def effective_accelerators(self) -> dict[str, dict[str, Any]]:
        """Settings per kind of accelerator."""
        fakes = {"fake": {"count": self.fake_accelerators}} if self.fake_accelerators else {}
        return {**fakes, **self.accelerators}

    @field_validator("simulated_accelerators")
    @classmethod
    def _simulates(cls, description: str) -> str:
        from carrel.accelerators.simulated.machine import parse

        parse(description)
        return description

    @property
    def effective_gateway_port(self) -> int:
        return self.gateway_port or self.port + 1

    @property
    def effective_ssh_port(self) -> int | None:
        """None: no SSH."""
        if self.ssh_port:
            return self.ssh_port if self.ssh_port > 0 else None
        port = self.effective_gateway_port + 2
        return port if port < 1 << 16 and port != self.port else None

    @field_validator("tls_cert", "tls_key")
    @classmethod
    def _absolute(cls, path: str) -> str:
        # The processes may run in another directory than the command.
        return path and os.path.abspath(path)

    @property
    def scheme(self) -> str:
        """The scheme of the ports: "http" or "https"."""
        return "https" if self.tls_cert else "http"

    @property
    def effective_public_url(self) -> str:
        return self.public_url or self._url(self._public_host(), self.port)

    @property
    def effective_internal_url(self) -> str:
        if self.internal_url:
            return self.internal_url.rstrip("/")
        host = self.host if self.host not in _WILDCARDS else _own_address()
        return f"{self.scheme}://{literal(host)}:{self.port}"

    @property
    def effective_apps_url(self) -> str:
        """Scheme, apps domain and port; the label of each app is prepended to the domain."""
        return self.apps_url or self._url(self.apps_domain, self.effective_gateway_port)

    def _url(self, host: str, port: int) -> str:
        # As in browsers, which omit the scheme's default port and compare origins literally.
        usual = port == _PORTS[self.scheme]
        return f"{self.scheme}://{literal(host)}" + ("" if usual else f":{port}")

    def _public_host(self) -> str:
        """The configured address or, if unspecific, the first name of the certificate."""
        if self.host not in _SAYS_NOTHING:
            return self.host
        if not self.tls_cert:
            return "localhost"
        from carrel.server import certificate

        return certificate.first_name(self.tls_cert) or "localhost"

    @property
    def effective_app_ports(self) -> range:
        """The ports for apps without host names; empty if host names work or only this machine has access.

        Raises: Invalid.
        """
        if self.app_ports:
            return _given_ports(self.app_ports, {self.port, self.effective_gateway_port})
        if self.apps_url or self.apps_domain != "localhost" or is_this_machine(self.host):
            return range(0)
        first = max(self.port, _USUAL_PORT) + 10
        return range(first, min(first + 40, 1 << 16))

    def scanner(self) -> Scanner | None:
        """The scanner of images; None: there is none. Raises: Invalid."""
        if not self.image_scanner.strip():
            return None
        try:
            words = shlex.split(self.image_scanner)
        except ValueError:
            words = []
        if not any(PLACEHOLDER in word for word in words[1:]):
            raise Invalid(
                "setup.image_scanner",
                f"The command of the image scanner has no argument with {PLACEHOLDER}.",
                hint="For example: trivy image --quiet --format cyclonedx --scanners vuln {reference}",
            )
        return Scanner(words, float(self.image_scanner_timeout_s), self.image_scanner_memory_bytes)

    @property
    def effective_trusted_proxies(self) -> list[str]:
        """Addresses and networks of trusted proxies. Raises: Invalid."""
        proxies = [part.strip() for part in self.trusted_proxies.split(",") if part.strip()]
        for part in proxies:
            try:
                ipaddress.ip_network(part)
            except ValueError:
                raise Invalid(
                    "setup.trusted_proxies",
                    f"{part} is neither an address nor a network.",
                    hint="Specify addresses of proxies, or networks such as 10.0.0.0/8, separated by commas.",
                ) from None
        return proxies

    @property
    def unlimited_networks(self) -> tuple[str, ...]:
        """Networks exempt from `connections_per_address`. Raises: Invalid."""
        return (*LOOPBACK, *self.effective_trusted_proxies)

    def key(self) -> bytes:
        """The installation's secret key, 32 bytes; without key_file created on first use, readable only by its owner.

        Raises: Invalid.
        """
        if self.key_file:
            return _given_key(Path(self.key_file))
        path = self.data_dir / "key"
        try:
            return path.read_bytes()
        except FileNotFoundError:
            write_secret(path, secrets.token_bytes(_KEY_BYTES))
            return path.read_bytes()


def _own_address() -> str:
    """The address of this machine's name, unless that is loopback as on Debian: that of the way out then."""
    with suppress(OSError):
        address = socket.gethostbyname(socket.gethostname())
        if not address.startswith("127."):
            return address
    with suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as way_out:
        way_out.connect(_OUTSIDE)  # sends nothing
        return str(way_out.getsockname()[0])
    return "127.0.0.1"


def _given_ports(text: str, taken: set[int]) -> range:
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text)
    ports = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    if not ports or ports[0] < 1 or ports[-1] >= 1 << 16 or taken & {*ports}:
        raise Invalid(
            "setup.app_ports",
            f"{text} is not a valid port range for apps.",
            hint="Specify the first and the last port, such as 8710-8749, without those of the page and the gateway.",
        )
    return ports


def _given_key(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except OSError as error:
        raise _wrong_key(f"{path} cannot be read: {error.strerror}.") from None
    if len(key) != _KEY_BYTES:
        raise _wrong_key(f"{path} has {len(key)} bytes; the key has {_KEY_BYTES}.")
    return key


def _wrong_key(message: str) -> Invalid:
    hint = "Restore the key of this installation; for a new one: head -c 32 /dev/urandom > FILE."
    return Invalid("setup.key_file", message, hint=hint)


def write_secret(path: Path, content: bytes) -> None:
    """Atomically create a file readable only by its owner; an existing file is kept."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()

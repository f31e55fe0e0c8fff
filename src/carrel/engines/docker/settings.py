"""Settings of Docker engines."""

from ipaddress import IPv4Network
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from carrel.engines.context import Connect
from carrel.engines.docker.engine import DockerEngine
from carrel.engines.docker.network import DEFAULT_RANGE
from carrel.plugins import Plugin

_Url = Annotated[
    str,
    StringConstraints(
        pattern=r"^(unix:///|tcp://|http://|https://)\S+$", max_length=1024, strip_whitespace=True
    ),
]


class DockerSettings(BaseModel):
    """Docker, or Podman through its compatible socket."""

    url: _Url = Field(
        default="unix:///var/run/docker.sock",
        title="Address",
        description="Socket or address of the daemon, as in DOCKER_HOST.",
        examples=["unix:///run/other/docker.sock", "tcp://10.0.0.5:2375"],
    )
    addresses: IPv4Network = Field(
        default=DEFAULT_RANGE,
        title="Addresses",
        description="Range that the networks of sessions are cut from.",
        examples=["10.213.0.0/16"],
    )


def _make(settings: DockerSettings) -> Connect:
    return lambda context: DockerEngine(
        settings.url,
        context.installation,
        claimant=context.claimant,
        addresses=settings.addresses,
        accelerators=context.accelerators,
    )


PLUGIN = Plugin(DockerSettings, _make, "Docker or Podman")

"""When apps have ports of their own, and which."""

import pytest

from carrel.core.errors import Invalid
from carrel.core.host_names import is_this_machine
from carrel.server.settings import Settings


@pytest.mark.parametrize(
    ("given", "ports"),
    [
        ({}, range(0)),
        ({"host": "127.0.0.2"}, range(0)),
        ({"host": "::1"}, range(0)),
        ({"host": "0.0.0.0"}, range(8710, 8750)),
        ({"host": "::"}, range(8710, 8750)),
        ({"host": "192.168.1.5", "port": 80}, range(8710, 8750)),
        ({"host": "0.0.0.0", "port": 9000}, range(9010, 9050)),
        ({"host": "0.0.0.0", "port": 65520}, range(65530, 65536)),
        ({"host": "0.0.0.0", "apps_domain": "apps.example.org"}, range(0)),
        ({"host": "0.0.0.0", "apps_url": "https://apps.example.org"}, range(0)),
        ({"app_ports": "9100-9100"}, range(9100, 9101)),
        ({"app_ports": "9100-9109", "apps_domain": "apps.example.org"}, range(9100, 9110)),
    ],
)
def test_ports_are_for_those_who_come_by_an_address(given: dict[str, object], ports: range) -> None:
    assert Settings(**given).effective_app_ports == ports  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", ["x", "8710", "9-8", "0-5", "8700-8799", "8701-8701", "65530-65536", "1-2-3"]
)
def test_what_is_no_range_is_refused(given: str) -> None:
    with pytest.raises(Invalid) as refused:
        _ = Settings(app_ports=given).effective_app_ports
    assert refused.value.code == "setup.app_ports"


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("box.local", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_names(host: str, own: bool) -> None:
    assert is_this_machine(host) is own


@pytest.mark.parametrize(
    ("given", "port"),
    [
        ({}, 8703),
        ({"port": 443, "gateway_port": 8443}, 8445),
        ({"ssh_port": 22}, 22),
        ({"ssh_port": -1}, None),
    ],
)
def test_ssh_has_a_port_beside_the_gateways(given: dict[str, int], port: int | None) -> None:
    assert Settings(**given).effective_ssh_port == port  # type: ignore[arg-type]

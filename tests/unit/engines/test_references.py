"""Parts of image references."""

import pytest

from carrel.engines.references import (
    canonical,
    canonical_host,
    digest_of,
    never_an_id,
    on_registry,
    registry_of,
    repository_of,
    spellings,
    tag_of,
    to_pull,
    with_digest,
)


@pytest.mark.parametrize(
    ("reference", "registry", "repository"),
    [
        ("debian", "docker.io", "library/debian"),
        ("debian:12", "docker.io", "library/debian"),
        ("index.docker.io/org/a:1", "docker.io", "org/a"),
        ("localhost/carrel/starter:1", "localhost", "carrel/starter"),
        ("registry.example.org:5000/team/a/b", "registry.example.org:5000", "team/a/b"),
        ("registry.example.org:443/team/a:1", "registry.example.org", "team/a"),
        ("Registry.Example.org:443/a", "registry.example.org", "a"),
        ("index.docker.io:443/org/a:1", "docker.io", "org/a"),
        # Without the port, these would be no hosts, or none at all.
        ("tools:443/a:1", "tools:443", "a"),
        ("localhost:443/a:1", "localhost:443", "a"),
        ("registry.example.org:5000/a:1@sha256:00", "registry.example.org:5000", "a"),
    ],
)
def test_a_reference_has_a_registry_and_a_repository(reference: str, registry: str, repository: str):
    assert (registry_of(reference), repository_of(reference)) == (registry, repository)


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("debian", "mirror:5000/library/debian:latest"),
        ("ghcr.io/org/a:1", "mirror:5000/org/a:1"),
        ("ghcr.io/org/a:1@sha256:00", "mirror:5000/org/a@sha256:00"),
    ],
)
def test_a_mirror_has_the_same_tag_or_digest(reference: str, there: str):
    assert on_registry(reference, "mirror:5000") == there


@pytest.mark.parametrize(
    ("reference", "passed"),
    [
        ("cafe", "docker.io/library/cafe:latest"),
        ("sha256:cafe", "docker.io/library/sha256:cafe"),
        ("debian@sha256:00", "docker.io/library/debian@sha256:00"),
        ("org/a", "docker.io/org/a"),
        ("ghcr.io/org/a:1", "ghcr.io/org/a:1"),
        ("localhost/carrel/starter:1", "localhost/carrel/starter:1"),
    ],
)
def test_no_reference_is_taken_for_an_id_of_an_image(reference: str, passed: str):
    assert never_an_id(reference) == passed


def test_a_reference_of_docker_hub_has_several_spellings():
    full = spellings("docker.io/library/debian")
    assert full[0] == "docker.io/library/debian:latest"
    assert {"debian", "debian:latest", "library/debian", "index.docker.io/debian:latest"} < {*full}
    assert spellings("ghcr.io/org/a:1") == ["ghcr.io/org/a:1"]
    assert all({*spellings(one)} == {*spellings("debian:12")} for one in spellings("debian:12"))


def test_a_reference_with_a_digest_keeps_its_tag():
    exact = with_digest("ghcr.io/org/a:1", "sha256:00")
    assert (exact, digest_of(exact), tag_of(exact)) == ("ghcr.io/org/a:1@sha256:00", "sha256:00", "1")
    assert with_digest(exact, "sha256:11") == "ghcr.io/org/a:1@sha256:11"
    assert (digest_of("a"), tag_of("a"), tag_of("a@sha256:00")) == ("", "latest", "")


def test_the_usual_port_makes_no_other_registry():
    spelled = "registry.example.org:443/team/a:1"
    assert spellings(spelled) == ["registry.example.org/team/a:1"]
    assert canonical(spelled) == canonical("registry.example.org/team/a:1")
    assert (to_pull(spelled), to_pull("debian:12")) == ("registry.example.org/team/a:1", "debian:12")
    hosts = ("registry.example.org:443", "tools", "tools:443", "registry.example.org:8443")
    assert [canonical_host(host) for host in hosts] == [
        "registry.example.org",
        "tools",
        "tools:443",
        "registry.example.org:8443",
    ]

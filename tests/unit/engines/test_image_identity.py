"""Which image a container runs, from what engines say."""

from carrel.engines.docker.image_identity import digest_in
from carrel.engines.kubernetes.pod_answers import image_identity
from carrel.engines.kubernetes.pods import SESSION


def test_a_digest_counts_only_for_the_registry_of_the_reference():
    inspected = {"RepoDigests": ["mirror:5000/library/debian@sha256:aa", "debian@sha256:bb"]}
    assert digest_in(inspected, "docker.io/library/debian:12") == "sha256:bb"
    assert digest_in(inspected, "mirror:5000/library/debian:12") == "sha256:aa"
    assert digest_in(inspected, "ghcr.io/library/debian:12") == ""
    assert digest_in({"RepoDigests": None}, "debian") == ""


def test_a_kubelet_tells_a_digest_of_a_pulled_image_and_an_id_of_another():
    def pod(image_id: str) -> dict[str, object]:
        return {"status": {"containerStatuses": [{"name": SESSION, "imageID": image_id}]}}

    assert image_identity(pod("docker.io/library/debian@sha256:aa")) == ("sha256:aa", "sha256:aa")
    assert image_identity(pod("sha256:bb")) == ("", "sha256:bb")
    assert image_identity({"status": {}}) == ("", "")

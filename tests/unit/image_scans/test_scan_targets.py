"""A scanner reads what sessions of the image start from, whatever its tag means."""

import pytest

from carrel.engines.optional import StoredImage
from carrel.image_scans.catalogue_digests import CatalogueDigest
from carrel.image_scans.scan_targets import ScanTarget, StoredImages, is_outdated

OLD, NEW = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
REPOSITORY = "docker.io/library/debian"
DEBIAN = f"{REPOSITORY}:12"
STORED = StoredImages(
    [
        StoredImage("id-new", ("debian:12",), 1, digests=(f"mirror.test/debian@{OLD}", f"debian@{NEW}")),
        StoredImage("id-old", (), 1, digests=(f"debian@{OLD}",)),
        StoredImage("id-own", ("localhost/lab/own:1",), 1),
        StoredImage("id-other-node", ("debian:12",), 1),
    ]
)


@pytest.mark.parametrize(
    ("reference", "known", "expected"),
    [
        # The tag of a pinned image is of no interest.
        (DEBIAN, CatalogueDigest(OLD, pinned=True), ScanTarget(f"{REPOSITORY}@{OLD}", "id-old")),
        (DEBIAN, CatalogueDigest("sha256:c", pinned=True), ScanTarget(f"{REPOSITORY}@sha256:c", "sha256:c")),
        # Sessions of others start from what the node has.
        (DEBIAN, CatalogueDigest(OLD, pinned=False), ScanTarget(f"{REPOSITORY}@{NEW}", "id-new")),
        (DEBIAN, None, ScanTarget(f"{REPOSITORY}@{NEW}", "id-new")),
        (f"{REPOSITORY}@{OLD}", None, ScanTarget(f"{REPOSITORY}@{OLD}", "id-old")),
        # What was built here has no digest, but an id.
        ("localhost/lab/own:1", None, ScanTarget("id-own", "id-own")),
        (f"{REPOSITORY}:13", None, ScanTarget(f"{REPOSITORY}:13", None)),
    ],
)
def test_what_is_scanned(reference: str, known: CatalogueDigest | None, expected: ScanTarget):
    assert STORED.target(reference, known) == expected


def test_of_several_digests_that_of_the_catalogue_is_named():
    stored = StoredImages([StoredImage("id", ("debian:12",), 1, digests=(f"debian@{OLD}", f"debian@{NEW}"))])
    known = CatalogueDigest(NEW, pinned=False)
    assert stored.target(DEBIAN, known).reference == f"{REPOSITORY}@{NEW}"


@pytest.mark.parametrize(
    ("target", "known", "expected"),
    [
        (f"{REPOSITORY}@{OLD}", CatalogueDigest(NEW, pinned=True), True),
        (f"{REPOSITORY}@{OLD}", CatalogueDigest(NEW, pinned=False), True),
        (f"{REPOSITORY}@{OLD}", CatalogueDigest(OLD, pinned=True), False),
        (f"{REPOSITORY}@{OLD}", None, False),
        (OLD, CatalogueDigest(NEW, pinned=True), False),
        ("", CatalogueDigest(NEW, pinned=True), False),
    ],
)
def test_a_scan_of_another_digest_is_outdated(target: str, known: CatalogueDigest | None, *, expected: bool):
    assert is_outdated(target, known) is expected

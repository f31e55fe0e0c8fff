"""One cluster for all tests of this folder; a test that breaks it repairs it."""

from collections.abc import Iterator

import pytest
from own_cluster import Cluster
from service_accounts import apply_rights

pytest.register_assert_rewrite("carrel.engines.conformance", "carrel.engines.conformance_kit")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """There is no skipping: what is missing is an error."""
    with Cluster() as cluster:
        apply_rights(cluster)
        yield cluster

"""Version and revision of the running program, as a metric."""

from prometheus_client import Gauge

from carrel import version

_INFO = Gauge("carrel_build_info", "1, with the version and revision that run.", ("version", "revision"))


def publish() -> None:
    """Publish the metric; call in every scraped process. Twice: no-op."""
    number, _, revision = version.full().partition("+g")
    _INFO.labels(number, revision).set(1)

"""Version and revision of the running program, as a metric."""

from prometheus_client import Gauge

from carrel import version

_INFO = Gauge("carrel_build_info", "1, with the version and revision that run.", ("version", "revision"))


def publish() -> None:
    """For every process that is scraped. Twice: no-op."""
    number, _, revision = version.full().partition("+g")
    _INFO.labels(number, revision).set(1)

"""What is logged while somebody signs in."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from carrel.server import log_config


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    """Where everything is logged, as in production."""
    file = tmp_path / "all.log"
    before = logging.getLogger().handlers
    log_config.set_up(file)
    structlog.configure(cache_logger_on_first_use=False)
    yield file
    logging.getLogger().handlers = before
    structlog.reset_defaults()

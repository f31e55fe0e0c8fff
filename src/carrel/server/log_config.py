"""Structured logs: one JSON object per line, in a file of bounded size or on standard error."""

import logging
import logging.handlers
import re
from pathlib import Path

import structlog

_SIZE = 10 << 20
# PostgreSQL quotes the offending row, including secrets.
_ROW = re.compile(r"\nDETAIL:.*?(?=\n(?:HINT:|CONTEXT:|\[SQL|\n)|\Z)", re.DOTALL)


def set_up(file: Path | None) -> None:
    """Log to a file with rotation at 10 MiB (three are kept), or to standard error."""
    handler: logging.Handler
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(file, maxBytes=_SIZE, backupCount=3)
    else:
        handler = logging.StreamHandler()
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_rows,
    ]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(default=str),
            ],
            foreign_pre_chain=shared,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for noisy in ("uvicorn.access", "uvicorn.error", "aiohttp.access", "alembic.runtime.migration"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _without_rows(
    logger: object, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    if isinstance(text := event.get("exception"), str):
        event["exception"] = _ROW.sub("", text)
    return event

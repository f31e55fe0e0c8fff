"""A zip file for whoever helps with a problem: versions, checks, consistency, settings and logs, without secrets."""

import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOG_BYTES = 2 << 20
"""The end of each log that is included."""
# Bounded, because a log may contain lines of any length.
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://[^\s:/@\"']{0,200}):[^\s@\"']{1,500}@")
_CREDENTIAL = re.compile(
    r"(?i)((?:bearer|basic|token|authorization|password|passwd|secret|api[_-]?key)\b[\"']?[\s:=]+[\"']?)"
    r"(?!bearer|basic|token)[^\s\"',;&]+"
)


def without_credentials(text: str) -> str:
    """The text with passwords in URLs, and what follows words such as `password` or `Bearer`, replaced."""
    return _CREDENTIAL.sub(r"\1(hidden)", _URL_PASSWORD.sub(r"\1:(hidden)@", text))


def write(documents: Mapping[str, Any], logs: Path) -> bytes:
    """The zip file. documents: name -> what is written as JSON. logs: the directory of log files, which may be missing.

    Blocks: call it in a thread.
    """
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in documents.items():
            text = json.dumps(content, indent=2, default=str, ensure_ascii=False)
            archive.writestr(f"{name}.json", without_credentials(text))
        for log in sorted(logs.glob("*.log")):
            archive.writestr(f"logs/{log.name}", without_credentials(_end(log)))
    return memory.getvalue()


def _end(log: Path) -> str:
    """Its last whole lines, at most LOG_BYTES."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - LOG_BYTES, 0))
        content = file.read()
    if size > LOG_BYTES:
        content = content.partition(b"\n")[2]
    return content.decode(errors="replace")

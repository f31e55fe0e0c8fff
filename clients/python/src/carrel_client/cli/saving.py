"""Save a streamed answer in a file."""

from __future__ import annotations

import os

from carrel_client.cli.output import say
from carrel_client.cli.progress import ProgressLine
from carrel_client.errors import CarrelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PATIENCE_S = 1.0


def save(path: str, blocks: Iterable[bytes]) -> None:
    """Write it under a temporary name first, so that an incomplete file is never taken for the whole.

    Raises: CarrelError.
    """
    unfinished = f"{path}.part"
    size = 0
    try:
        with open(unfinished, "wb") as file, ProgressLine(after_s=PATIENCE_S) as progress:
            for block in blocks:
                file.write(block)
                size += len(block)
                progress.update(f"saved {size >> 20} MiB" if size >> 20 else "saving")
        os.replace(unfinished, path)
    except OSError as error:
        raise not_a_file(path, error) from error
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
    say(f"saved in {path}")


def not_a_file(path: str, error: OSError) -> CarrelError:
    """The error for a file that cannot be read or written."""
    return CarrelError(
        "client.file", f"{path}: {error.strerror or error}.", status=404 if not os.path.exists(path) else 422
    )

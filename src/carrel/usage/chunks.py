"""Points of one container, packed into bytes. Pure.

A point is a row of integers. Each column is stored as differences to the point before, and their bytes are grouped by
significance, so that the compressor sees long runs: an hour of minutes takes a few hundred bytes instead of 5 KB.
"""

import zlib

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.int64]
"""Shape (points, columns); ABSENT where nothing was measured."""
ABSENT = -1
_FORMAT = 1


def pack(points: Points) -> bytes:
    """The points as bytes, which begin with the format and the number of columns."""
    differences = np.diff(points.T, axis=1, prepend=0).astype("<i8")
    grouped = np.ascontiguousarray(differences).view(np.uint8).reshape(-1, 8).T
    return bytes((_FORMAT, points.shape[1])) + zlib.compress(grouped.tobytes(), 6)


def unpack(packed: bytes) -> Points:
    """The points. Raises: ValueError for a format of a later version."""
    if packed[0] != _FORMAT:
        raise ValueError(f"points of an unknown format: {packed[0]}")
    grouped = np.frombuffer(zlib.decompress(packed[2:]), np.uint8).reshape(8, -1)
    differences = np.ascontiguousarray(grouped.T).view("<i8").reshape(packed[1], -1)
    return np.cumsum(differences, axis=1, dtype=np.int64).T

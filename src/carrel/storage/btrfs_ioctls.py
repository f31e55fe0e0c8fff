"""Btrfs ioctls: ids of subvolumes, nesting, and members of qgroups.

Everything is identified by numbers, since sessions choose the names in a file system.
Source: Linux, include/uapi/linux/btrfs.h and btrfs_tree.h.
"""

import fcntl
import struct
import uuid
from collections.abc import Iterator

_MAGIC = 0x94
_READ, _BOTH = 2, 3
_PAGE = 4096
_SEARCH_KEY = struct.Struct("=7Q4I4Q")
_SEARCH_HEADER = struct.Struct("=3Q2I")
_MOST = 2**64 - 1
_FIRST_INODE = 256
_ROOT_TREE, _QUOTA_TREE = 1, 8
_ROOT_ITEM, _ROOT_REF, _QGROUP_RELATION = 132, 156, 246
_LEVEL_SHIFT = 48


def _number(direction: int, call: int, size: int) -> int:
    return direction << 30 | size << 16 | _MAGIC << 8 | call


_TREE_SEARCH = _number(_BOTH, 17, _PAGE)
_INO_LOOKUP = _number(_BOTH, 18, _PAGE)
_FS_INFO = _number(_READ, 31, 1024)


def file_system(handle: int) -> uuid.UUID:
    """The id of the Btrfs file system of a file. Raises: OSError ENOTTY for any other file system."""
    answer = bytearray(1024)
    fcntl.ioctl(handle, _FS_INFO, answer)
    return uuid.UUID(bytes=bytes(answer[16:32]))


def subvolume(handle: int) -> int:
    """The id of the subvolume of a file."""
    answer = bytearray(_PAGE)
    struct.pack_into("=2Q", answer, 0, 0, _FIRST_INODE)
    fcntl.ioctl(handle, _INO_LOOKUP, answer)
    return int.from_bytes(answer[:8], "little")


def exists(handle: int, subvolume: int) -> bool:
    """True if the subvolume exists, including one that is being deleted."""
    return any(_search(handle, _ROOT_TREE, subvolume, _ROOT_ITEM))


def nested(handle: int, subvolume: int) -> list[int]:
    """All subvolumes nested below one, parents first."""
    ids: list[int] = []
    rest = [subvolume]
    while rest:
        inner = list(_search(handle, _ROOT_TREE, rest.pop(), _ROOT_REF))
        ids += inner
        rest += inner
    return ids


def members(handle: int, qgroup: int) -> set[int]:
    """The subvolumes in a level 1 qgroup. qgroup: its number without the level."""
    group = 1 << _LEVEL_SHIFT | qgroup
    return {one for one in _search(handle, _QUOTA_TREE, group, _QGROUP_RELATION) if one >> _LEVEL_SHIFT == 0}


def _search(handle: int, tree: int, item: int, kind: int) -> Iterator[int]:
    """The offsets of all keys of this kind that an item has in a tree, in order."""
    offset = 0
    while True:
        answer = bytearray(_PAGE)
        _SEARCH_KEY.pack_into(
            answer, 0, tree, item, item, offset, _MOST, 0, _MOST, kind, kind, _PAGE, 0, 0, 0, 0, 0
        )
        fcntl.ioctl(handle, _TREE_SEARCH, answer)
        count = _SEARCH_KEY.unpack_from(answer)[9]
        if not count:
            return
        at = _SEARCH_KEY.size
        for _ in range(count):
            _, _, offset, _, size = _SEARCH_HEADER.unpack_from(answer, at)
            yield offset
            at += _SEARCH_HEADER.size + size
        if offset == _MOST:
            return
        offset += 1

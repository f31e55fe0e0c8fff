"""POSIX ACLs that give the sessions' user and this process access to a directory and everything created in it.

Written as extended attributes in the kernel's format.
Source: Linux, include/uapi/linux/posix_acl_xattr.h.
"""

import errno
import os
import struct

from carrel.storage.port import WORK_UID, StorageUnusable

_ACCESS = "system.posix_acl_access"
_DEFAULT = "system.posix_acl_default"
_VERSION = 2
_OWNER, _USER, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
_NOBODY = 0xFFFFFFFF
_ALL = 7


def set_both(directory: int) -> None:
    """Set the ACL and the default ACL of a directory. Raises: StorageUnusable without ACL support, OSError."""
    users = sorted({os.geteuid(), WORK_UID})
    entries = [
        (_OWNER, _ALL, _NOBODY),
        *((_USER, _ALL, user) for user in users),
        (_GROUP, 0, _NOBODY),
        (_MASK, _ALL, _NOBODY),
        (_OTHERS, 0, _NOBODY),
    ]
    value = struct.pack("<I", _VERSION) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(directory, _ACCESS, value)
        os.setxattr(directory, _DEFAULT, value)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        raise StorageUnusable(
            "The file system has no POSIX ACLs, which a server that is not root needs to share files with sessions: "
            "mount it with them, run the server as root, or use another directory."
        ) from None


def are_set(directory: int) -> bool:
    """True if `set_both` has completed for the directory."""
    try:
        return bool(os.getxattr(directory, _DEFAULT))
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):
            return False
        raise


def attempt(parent: int) -> None:
    """Test ACL support with a temporary directory. Raises: StorageUnusable."""
    name = f".probe-{os.urandom(8).hex()}"
    os.mkdir(name, 0o700, dir_fd=parent)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        try:
            set_both(handle)
        finally:
            os.close(handle)
    finally:
        os.rmdir(name, dir_fd=parent)

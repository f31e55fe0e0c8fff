"""Storage back ends: storage of the files of folders, and access that cannot leave a folder.

Belongs here: the port, its implementations, traversal by directory handles, temporary directories. Not here: ownership
and permissions.
"""

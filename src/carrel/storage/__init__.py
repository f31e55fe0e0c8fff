"""Storage back ends: where the files of folders are, and how they are reached without leaving a folder.

Belongs here: the port, its implementations, walking by directory handles. Not here: whose a folder is, who may.
"""

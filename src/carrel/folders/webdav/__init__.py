"""Folders as network drives: WebDAV (RFC 4918) at /dav, for rclone, davfs2, Finder and Explorer.

WsgiDAV implements the protocol; files are accessed through `carrel.folders.files` and `carrel.storage`, as by the API.
"""

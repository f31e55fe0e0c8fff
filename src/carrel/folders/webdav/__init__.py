"""Folders as network drives: WebDAV (RFC 4918) at /dav, for rclone, davfs2, Finder and Explorer.

The protocol is WsgiDAV's; every file is reached through `carrel.folders.files` and `carrel.storage`, as by the API.
"""

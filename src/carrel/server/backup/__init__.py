"""Backups of an installation: made, verified and restored by `carrel backup` and `carrel restore`.

A backup is a directory: `manifest.json`, written last, names every other file with its size and checksum;
`database.dump` is pg_dump's custom format; `key`, `run.json` and `admin-password` are as in the data directory; and
`folders/<storage host>/<scope>/<folder>.tar` holds one folder each. What does not belong here: when backups are made,
how many are kept, and where they are sent.
"""

"""Backups of an installation: `carrel backup` creates and verifies them, `carrel restore` restores them.

A backup is a directory. `manifest.json`, written last, lists every other file with size and checksum; `database.dump`
is in pg_dump's custom format; `key`, `run.json` and `admin-password` are as in the data directory; `folders/<storage
host>/<scope>/<folder>.tar` contains one folder each; `session-logs.tar` the logs of sessions. Out of
scope: schedules, retention and transfer of backups.
"""

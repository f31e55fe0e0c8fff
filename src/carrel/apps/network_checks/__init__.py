"""Checks of the network of sessions: an all-reduce between their containers or accelerators, measured inside.

`program` runs in each container, one file without imports of ours, for any Python from 3.7. `all_reduce` starts and
drives one for each participant; `message_paths` reads their reports. `service` has one check of a session at a time,
and stores the last result.
"""

"""The output of containers, kept as compressed files under the data directory: `records` (the text in them), `members`
(the file format), `store` (the files of a container, and writing them), `trail` (going on after a break) and `reading`
(what a request asks for).

The controllers write, and every API reads: both need the same directory. Out of scope: who may read a log.
"""

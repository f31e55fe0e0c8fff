"""Checks of the network of sessions: an all-reduce between their containers or accelerators, measured inside.

program    the process that runs in each container; one file without imports of ours, for any Python from 3.6
measuring  starts one process for each participant and drives them
paths      which path the messages took, from what the processes report
service    one check of a session at a time; the last result is stored
"""

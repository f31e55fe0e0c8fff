"""What happened, in the order of commit, as people's pages and scripts follow it.

Belongs here: the event log and its live stream. Not here: who changed what on whose behalf (audit).
"""

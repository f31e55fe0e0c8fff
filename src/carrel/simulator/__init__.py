"""Traces of sessions, real ones and made ones, replayed on an installation: what a policy would have done. Pure."""

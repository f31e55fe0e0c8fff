"""Kinds of slots: what the accelerators of nodes may be asked for as, in which amounts, and how people call it."""

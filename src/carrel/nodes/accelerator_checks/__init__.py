"""Checks of the accelerators of a node, by containers that look from inside at what they were given.

Belongs here: requesting and listing checks, taking free devices for them, what the containers run, and what their
answers mean. Not here: carrying a check out (`carrel.controllers.device_checks`).
"""

"""Simulator: replays recorded or synthetic traces of sessions on an installation to evaluate a policy. Pure."""

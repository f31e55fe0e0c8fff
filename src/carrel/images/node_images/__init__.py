"""Images on nodes: what they hold, pulls ahead of sessions, and clean-up."""

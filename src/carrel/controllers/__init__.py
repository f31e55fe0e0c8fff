"""The loops that make it true: load, decide, apply. One leader runs them; see `loop.py`."""

"""Reconciliation loops: load, decide, apply. One leader runs them; see `loop.py`."""

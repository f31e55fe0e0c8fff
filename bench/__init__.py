"""Benchmarks: one file per measured property; its `measure()` returns lines of the table."""

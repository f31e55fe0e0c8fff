"""Benchmarks: one file for each thing measured, `measure()` gives its lines of the table."""

"""Scans of images: what a scanner found in them, the rule on vulnerabilities, and exemptions from it."""

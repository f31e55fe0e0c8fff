"""Machines that run containers, and the ledger of what is allocated on them."""

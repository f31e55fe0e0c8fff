"""Saved views: named filters, orders and columns of a list, each of one user."""

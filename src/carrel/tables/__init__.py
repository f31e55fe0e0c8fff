"""The rows of every noun, with the states they go through. Nothing here decides; every room may read it."""

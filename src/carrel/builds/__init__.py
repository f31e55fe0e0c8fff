"""Builds of environments from recipes: what a recipe means, requests, logs. The leader has engines build them.

Not here: environments, their versions and shares (`environments/`).
"""

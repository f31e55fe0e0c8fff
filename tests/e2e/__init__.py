"""Journeys of a person through a real installation: real processes, real containers, a real browser.

A test here claims something that a person could see. What one module alone can prove belongs in its own suite.
"""

"""Environments: images of users and projects, with their versions and shares. The leader makes the images."""

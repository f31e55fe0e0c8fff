"""Administration of domains: create, change, disable and delete."""

"""Administration of users: create, change, disable and purge, one or many."""

"""Administration of domains: making, changing, disabling and removing them."""

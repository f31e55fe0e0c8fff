"""Administration of projects and of who is in them."""

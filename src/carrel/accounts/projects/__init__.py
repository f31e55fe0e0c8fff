"""Administration of projects and their members."""

"""Administration of users, projects and domains."""

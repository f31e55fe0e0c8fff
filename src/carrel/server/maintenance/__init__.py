"""What an administrator looks at when something may be wrong: versions, checks, consistency, a support bundle."""

"""Sessions that nobody uses: what the rules say, when they end, and how somebody says that one is in use."""

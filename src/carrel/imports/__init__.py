"""Import & Run: what an address is, and the session that fetches it.

The control plane opens no connection to a source: it reads the address alone, and the session runs the script.
"""

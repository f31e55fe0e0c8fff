"""Import & Run: what an address is, and the session that fetches it.

It opens no connection to a source: it reads the address alone, and the session runs the script. Builds do fetch Git
repositories (`builds/git_fetch.py`).
"""

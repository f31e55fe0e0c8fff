"""The `carrel` command: words in, one SDK call, a table or the API's JSON out.

What belongs here is how things are said on a terminal; what is said to the server belongs to the SDK.
"""

"""The `carrel` command: parses arguments, makes SDK calls, and prints a table or the API's JSON. Belongs here:
terminal input and output. Requests to the server belong to the SDK.
"""

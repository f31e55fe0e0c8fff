"""The SDK's objects: sessions, folders and apps, on top of the operations in `carrel_client.client`.

Belongs here: objects with methods. tools/python_async.py generates `aio.py` from these modules.
"""

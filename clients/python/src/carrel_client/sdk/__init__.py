"""The SDK's objects: sessions, folders and apps, on top of the operations in `carrel_client.client`.

Here belongs what gives an object of the API its methods. `aio.py` is written from these modules by
tools/python_async.py, so that nothing is written twice.
"""

"""The data plane of apps: a reverse proxy with a process of its own.

Each app has its own origin: `<app>-<session>.<apps domain>`, or a port. Belongs here: authorization, header
filtering, and fast proxying in both directions. Not here: starting apps and issuing tickets (`apps/`).

    serve.py          the server, its routes under /.carrel/, start and stop
    app_routes.py     host name or port -> which app
    authorization.py  app and cookie -> route, or why not; cuts off whose grant lapsed
    headers.py        which headers cross, and how they change
    upstream.py       connections to containers, and the pool of idle ones
    relay.py          one request and its response
    bulk.py           large bodies, inside the kernel
    tunnel.py         WebSockets, as plain bytes once both sides agreed
    pages.py          what a person sees instead of the app
"""

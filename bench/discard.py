"""A page that uploads a directory as Carrel's page does, many files in a form, to a server that discards them:
`discard.py PORT`.
"""

import sys

from aiohttp import web

_PAGE = """<!doctype html><title>discard</title><input type="file" webkitdirectory><script>
const PER_FORM = 200, AT_ONCE = 3;
async function send(files) {
  const form = new FormData();
  form.append("files", JSON.stringify(files.map((f) => ({ path: f.webkitRelativePath, modified: f.lastModified }))));
  for (const file of files) form.append("file", file);
  await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/");
    Object.assign(request, { onload: resolve, onerror: reject });
    request.send(form);
  });
}
async function sendAll() {
  const files = [...document.querySelector("input").files];
  const began = performance.now();
  const next = async () => {
    while (files.length) await send(files.splice(0, PER_FORM));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return (performance.now() - began) / 1000;
}
</script>"""


async def page(request: web.Request) -> web.Response:
    return web.Response(text=_PAGE, content_type="text/html")


async def discard(request: web.Request) -> web.Response:
    async for _ in request.content.iter_any():
        continue
    return web.Response()


app = web.Application(client_max_size=1 << 30)
app.add_routes([web.get("/", page), web.post("/", discard)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)

"""The viewer inside a notebook, as one element that holds the page: nothing is served, nothing is loaded from elsewhere.

The page keeps its place in its address (`#/timeline`). An address that holds the page itself has one, but Chromium opens none of more than 2 MiB; a document
given as `srcdoc` may be as long as it likes, but its links go to the notebook's own address. So there are two frames: the outer one holds the page as
text, the inner one has a short address of its own and is written with it. Neither can reach the notebook (`sandbox`)."""

import base64
import html

# Asks for the page, and becomes it.
_INNER = """<!doctype html><script>
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  document.open();
  document.write(event.data);
  document.close();
}, { once: true });
parent.postMessage("ready", "*");
</script>"""

_OUTER = """<!doctype html><html><head><meta charset="utf-8"><style>html, body, iframe { margin: 0; border: 0; width: 100%%; height: 100%%; display: block; }
body { overflow: hidden; }</style></head><body><script type="text/plain" id="page">%(page)s</script><script>
const frame = document.createElement("iframe");
addEventListener("message", (event) => {
  if (event.source !== frame.contentWindow) return;
  const bytes = Uint8Array.from(atob(document.getElementById("page").textContent), (each) => each.charCodeAt(0));
  event.source.postMessage(new TextDecoder().decode(bytes), "*");
}, { once: true });
frame.title = "ridge";
frame.allow = "clipboard-write";
frame.src = "data:text/html;charset=utf-8;base64,%(inner)s#/timeline";
document.body.append(frame);
</script></body></html>"""


def _text(page):
    return base64.b64encode(page.encode()).decode()


def frame(page, height):
    """The element that shows this page, the text of a report, at its timeline."""
    outer = _OUTER % {"page": _text(page), "inner": _text(_INNER)}
    return (
        f'<iframe srcdoc="{html.escape(outer, quote=True)}" title="ridge" sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
        f'style="width:100%;height:{int(height)}px;box-sizing:border-box;border:1px solid #8884;border-radius:4px"></iframe>'
    )

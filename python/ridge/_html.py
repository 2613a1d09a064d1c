"""Tables and reports as a notebook shows them: figures with units, the charts as SVG. Text from a trace is escaped."""

import html

from ._table import _SHOWN_ROWS

_STYLE = """<style>
.ridge table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.ridge th, .ridge td { padding: 2px 8px; text-align: right; white-space: nowrap; max-width: 48em; overflow: hidden; text-overflow: ellipsis; }
.ridge table .text { text-align: left !important; } /* notebooks have rules of their own for cells */
.ridge tfoot td { border-top: 1px solid; font-weight: 600; }
.ridge .note { opacity: 0.7; }
.ridge svg { max-width: 100%; height: auto; background: white; }
</style>"""

_SCALES = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")),
    "bytes": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
    "flop": ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1, "FLOP")),
    "bytes_per_s": ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1, "B/s")),
    "flop_per_s": ((1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1, "FLOP/s")),
}


def cell(value, unit):
    """A value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if unit == "percent":
        return f"{value:.1f} %"
    for scale, name in _SCALES.get(unit, ()):
        if abs(value) >= scale or (not value and name == _SCALES[unit][-1][1]):
            return f"{value / scale:,.3f} {name}" if scale > 1 else f"{value:,} {name}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _grid(table):
    schema = table.schema
    shown = table._table.rows(0, _SHOWN_ROWS) if not hasattr(table, "select") else table.select(count=_SHOWN_ROWS).rows()
    out = ["<table><thead><tr>"]
    for column in schema:
        out.append(f'<th class="{column.type}">{html.escape(column.name)}</th>')
    out.append("</tr></thead><tbody>")
    for row in shown:
        out.append("<tr>" + "".join(_td(value, column) for value, column in zip(row, schema)) + "</tr>")
    out.append("</tbody>")
    total = table.total if not hasattr(table, "select") else None
    if total:
        out.append("<tfoot><tr>" + "".join(_td(total[column.name], column, "") for column in schema) + "</tr></tfoot>")
    out.append("</table>")
    more = len(table) - len(shown)
    if more > 0:
        out.append(f'<div class="note">{more:,} more rows</div>')
    return "".join(out)


def _td(value, column, unknown="-"):
    text = unknown if value is None else cell(value, column.unit)
    whole = f' title="{html.escape(text, quote=True)}"' if len(text) > 60 else ""
    return f'<td class="{column.type}"{whole}>{html.escape(text)}</td>'


def table(of):
    return f'{_STYLE}<div class="ridge">{_grid(of)}</div>'


def report(of):
    out = [_STYLE, '<div class="ridge">']
    if of.headline:
        out.append(f"<p><b>{html.escape(of.headline)}</b></p>")
    picture = of.svg()
    if picture:
        out.append(picture)
    for name, each in of.tables.items():
        if len(of.tables) > 1:
            out.append(f"<h4>{html.escape(name)}</h4>")
        out.append(_grid(each))
    for name, unit, points in of._report.series:
        out.append(f"<h4>{html.escape(name)}</h4>{curve(points, unit)}")
    for diagnostic in of.diagnostics:
        if diagnostic["severity"] != "info":
            out.append(f'<div class="note">{html.escape(diagnostic["severity"])}: {html.escape(diagnostic["message"])}</div>')
    out.append("</div>")
    return "".join(out)


def curve(points, unit, width=720, height=120):
    """A curve over time as SVG: a step at each point, thinned to the picture's width."""
    if len(points) < 2:
        return ""
    first, last = points[0][0], points[-1][0]
    span = max(last - first, 1)
    low, high = min(0, min(value for _, value in points)), max(value for _, value in points)
    scale = (high - low) or 1
    extremes = {}  # of each pixel the first, smallest, largest and last value: nothing that shows is lost
    for time_ns, value in points:
        extremes.setdefault(int((time_ns - first) * width / span), []).append(value)
    path, before = [], points[0][1]
    for x, values in sorted(extremes.items()):
        for value in (before, min(values), max(values), values[-1]):
            path.append(f"{x},{height - (value - low) * height / scale:.1f}")
        before = values[-1]
    label = html.escape(f"up to {cell(high, unit)} over {cell(last - first, 'ns')}")
    return (
        f'<svg width="{width}" height="{height + 18}" viewBox="0 0 {width} {height + 18}" role="img" aria-label="{label}">'
        f'<polyline fill="none" stroke="#1a73e8" stroke-width="1.2" points="{" ".join(path)}"/>'
        f'<text x="2" y="{height + 14}" font-size="12" fill="#444">{label}</text></svg>'
    )

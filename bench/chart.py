"""Draws a bar chart as SVG: a group of horizontal bars per case, a colour per series, and a line at 1."""

from xml.sax.saxutils import escape

COLOURS = ["#3465a4", "#f57900", "#73a946", "#75507b"]
BAR, GAP, TOP, RIGHT = 14, 10, 64, 70


def bar_chart(title, subtitle, names, series):
    """`series` is a list of (name, values); a value is a number, (value, low, high), or None for no value."""
    left = 24 + max(len(name) for name in names) * 7
    plot = 560
    points = [(v if isinstance(v, tuple) else (v, v, v)) for _, values in series for v in values if v is not None]
    most = max([1.25] + [value for value, _, _ in points])
    scale = plot / most
    group = len(series) * BAR + GAP
    height = TOP + len(names) * group + 40
    width = left + plot + RIGHT
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="20" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="38" fill="#555">{escape(subtitle)}</text>',
    ]
    for index, (name, _) in enumerate(series):
        x = left + index * 190
        out.append(f'<rect x="{x}" y="46" width="12" height="12" fill="{COLOURS[index % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 17}" y="56">{escape(name)}</text>')
    bottom = TOP + len(names) * group
    for row, name in enumerate(names):
        y = TOP + row * group
        out.append(f'<text x="{left - 8}" y="{y + group / 2 + 1}" text-anchor="end">{escape(name)}</text>')
        for index, (_, values) in enumerate(series):
            value = values[row]
            if value is None:
                continue
            middle, low, high = value if isinstance(value, tuple) else (value, value, value)
            top = y + index * BAR + 2
            colour = COLOURS[index % len(COLOURS)]
            out.append(f'<rect x="{left}" y="{top}" width="{middle * scale:.1f}" height="{BAR - 2}" fill="{colour}"/>')
            if high > low:
                centre = top + BAR / 2 - 1
                out.append(
                    f'<line x1="{left + low * scale:.1f}" x2="{left + min(high, most) * scale:.1f}" y1="{centre}" '
                    f'y2="{centre}" stroke="#222"/>'
                )
            x = left + max(middle, min(high, most)) * scale + 4
            out.append(f'<text x="{x:.1f}" y="{top + BAR - 4}" font-size="11">{middle:.2f}</text>')
    one = left + scale
    out.append(
        f'<line x1="{one:.1f}" x2="{one:.1f}" y1="{TOP - 4}" y2="{bottom}" stroke="#c00" stroke-dasharray="4 3"/>'
    )
    out.append(f'<text x="{one:.1f}" y="{bottom + 16}" fill="#c00" text-anchor="middle">1</text>')
    out.append("</svg>\n")
    return "\n".join(out)

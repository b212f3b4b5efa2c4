"""chart.py - a scatter of series as SVG, written by hand; it reads in a light and a dark window.

Both axes are logarithmic, that of recall in what is missed, 1 - recall, since most series lie near
1. A family of series shares a colour and a marker, so that neither is needed alone; each series is
named beside its last point.
"""
import html
import math

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 78, 150, 50, 62
LABEL_HEIGHT, LETTER_WIDTH = 13, 6.3
RECALL_TICKS = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995]
RECALL_MOST = 0.9999
STYLES = {"paua": (0, "circle"), "zvec": (1, "square"), "faiss": (2, "triangle"),
          "hnswlib": (3, "diamond"), "usearch": (4, "cross")}
STYLE_SHEET = """
text { font: 12px system-ui, sans-serif; }
.title { font-size: 16px; font-weight: 600; }
.series { fill: none; stroke-width: 1.6; }
.mark { stroke-width: 1; }
"""
# Of each class: the property, its colour in a light window and in a dark one.
COLOURS = {
    ".ground": ("fill", "#ffffff", "#15181c"), ".grid": ("stroke", "#d8dde3", "#363d46"),
    "text": ("fill", "#59636e", "#a3acb7"), ".ink": ("fill", "#1b1f24", "#e6e9ed"),
    ".mark": ("stroke", "#ffffff", "#15181c"),
    **{f"{kind}{number}": (what, light, dark)
       for number, (light, dark) in enumerate([
           ("#c2410c", "#fb923c"), ("#1d5fbf", "#70a9f5"), ("#15803d", "#4ade80"),
           ("#7e3ab8", "#c99af5"), ("#6b7280", "#a8b0bb")])
       for kind, what in ((".fill", "fill"), (".line", "stroke"))},
}


def style_sheet():
    light, dark = ("\n".join(f"{name} {{ {colours[0]}: {colours[which]}; }}"
                             for name, colours in COLOURS.items()) for which in (1, 2))
    return f"{STYLE_SHEET}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def missed(recall):
    """Where a recall lies on its axis, larger to the right."""
    return -math.log(1 - min(recall, RECALL_MOST))


class Scale:
    """Values to pixels, after a function that straightens them."""

    def __init__(self, values, straighten, first, last):
        places = [straighten(value) for value in values]
        margin = 0.06 * (max(places) - min(places)) or 0.5
        self.low, self.high = min(places) - margin, max(places) + margin
        self.straighten, self.first, self.last = straighten, first, last

    def __call__(self, value):
        share = (self.straighten(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def holds(self, value):
        return self.low <= self.straighten(value) <= self.high


def decade_ticks(scale, digits):
    powers = (digit * 10.0 ** power for power in range(8) for digit in digits)
    return [tick for tick in powers if scale.holds(tick)]


def tag(name, text="", **attributes):
    words = " ".join(f'{key.rstrip("_").replace("_", "-")}="{value}"'
                     for key, value in attributes.items())
    return f"<{name} {words}>{html.escape(text)}</{name}>" if text else f"<{name} {words}/>"


def marker(kind, x, y, colour):
    style = {"class_": f"mark fill{colour}"}
    if kind == "circle":
        return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=5.5, **style)
    points = {"square": [(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)],
              "triangle": [(0, -6), (5.5, 4.5), (-5.5, 4.5)],
              "diamond": [(0, -6), (6, 0), (0, 6), (-6, 0)],
              "cross": [(-5, -2), (-2, -2), (-2, -5), (2, -5), (2, -2), (5, -2), (5, 2), (2, 2),
                        (2, 5), (-2, 5), (-2, 2), (-5, 2)]}[kind]
    return tag("polygon", points=" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points),
               **style)


def place_labels(labels, points):
    """Moves each label up or down to the nearest free place; [(x, y, text)] in the same order."""
    placed = [(px - 6, py, 12) for px, py in points]
    result = []
    for x, y, text in labels:
        width = LETTER_WIDTH * len(text)
        shifts = sorted(range(-8, 9), key=lambda step: (abs(step), step))
        free = [step for step in shifts if not any(
            abs(y + step * LABEL_HEIGHT - oy) < LABEL_HEIGHT - 1 and ox < x + width
            and x < ox + owidth for ox, oy, owidth in placed)]
        y += (free or [0])[0] * LABEL_HEIGHT
        placed.append((x, y, width))
        result.append((x, y, text))
    return result


def axes(x_scale, y_scale, x_title):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for recall in filter(x_scale.holds, RECALL_TICKS):
        x = f"{x_scale(recall):.1f}"
        yield tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=bottom)
        yield tag("text", f"{recall:g}", x=x, y=bottom + 20, text_anchor="middle")
    for value in decade_ticks(y_scale, (1, 2, 5)):
        y = y_scale(value)
        yield tag("line", class_="grid", x1=LEFT, x2=right, y1=f"{y:.1f}", y2=f"{y:.1f}")
        yield tag("text", f"{value:,.0f}", x=LEFT - 10, y=f"{y + 4:.1f}", text_anchor="end")
    yield tag("text", x_title, x=(LEFT + right) / 2, y=bottom + 46, text_anchor="middle")


def draw(series, title, x_title):
    """The SVG of {(family, name): [(recall, value), ...]}."""
    points = [point for one in series.values() for point in one]
    x_scale = Scale([x for x, _ in points], missed, LEFT, WIDTH - RIGHT)
    y_scale = Scale([y for _, y in points], math.log, HEIGHT - BOTTOM, TOP)
    parts = [tag("rect", width=WIDTH, height=HEIGHT, class_="ground"),
             tag("text", title, class_="title ink", x=LEFT, y=28),
             *axes(x_scale, y_scale, x_title)]
    marks, labels = [], []
    for (family, name), values in series.items():
        colour, kind = STYLES[family]
        line = [(x_scale(x), y_scale(y)) for x, y in values]
        parts.append(tag("polyline", class_=f"series line{colour}",
                         points=" ".join(f"{x:.1f},{y:.1f}" for x, y in line)))
        marks += [(kind, x, y, colour) for x, y in line]
        labels.append((line[-1][0] + 9, line[-1][1] + 4, name))
    parts += [marker(*mark) for mark in marks]
    parts += [tag("text", text, class_="ink", x=f"{x:.1f}", y=f"{y:.1f}")
              for x, y, text in place_labels(labels, [(x, y + 4) for _, x, y, _ in marks])]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
            f"<title>{html.escape(title)}</title>\n<style>{style_sheet()}</style>\n"
            + "\n".join(parts) + "\n</svg>\n")

"""A figure by itself, as one SVG that needs nothing else: for a notebook, a slide, a file."""

import base64
import html
from dataclasses import dataclass
from pathlib import Path

from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.tables.charts import Statement
from vidence.tables.rendering import drawing_of, style_sheet

WIDTH_PX, _EDGE_PX, _LEGEND_PX = 760, 12, 22


@dataclass(frozen=True)
class Picture:
    """A figure as SVG; a notebook shows it, `save` writes it."""

    svg: str
    title: str

    def __repr__(self) -> str:
        return f"Picture({self.title!r})"

    def _repr_html_(self) -> str:
        # As an image its style is its own, and changes nothing of the page around it.
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        return f'<img alt="{html.escape(self.title)}" src="data:image/svg+xml;base64,{data}">'

    def save(self, path: Path | str) -> Path:
        """Write the SVG to a file; the path.

        Raises:
            UsageError: the name does not end in ``.svg``.
            StoreError: it cannot be written.
        """
        place = Path(path)
        if place.suffix.lower() != ".svg":
            raise UsageError(f"{place} does not end in .svg; a figure is written as SVG")
        write_file(place, self.svg)
        return place


def picture_of(statement: Statement) -> Picture | None:
    """The figure of a table or a plot with its title and its legend; None for tables that have none."""
    drawing = drawing_of(statement)
    if drawing is None:
        return None
    height_px = float(drawing.svg.partition(' height="')[2].partition('"')[0])
    top_px = 30
    below_px = top_px + height_px + _LEGEND_PX
    lines = [
        f'<svg x="0" y="{below_px + i * _LEGEND_PX - 13:g}" width="16" height="16">{swatch}</svg>'
        f'<text x="24" y="{below_px + i * _LEGEND_PX:g}">{html.escape(label)}</text>'
        for i, (swatch, label) in enumerate(drawing.legend)
    ]
    whole_px = below_px + _LEGEND_PX * len(drawing.legend)
    inside = (
        f'<text class="strong" y="14">{html.escape(statement.title)}</text>'
        f'<svg y="{top_px}" height="{height_px:g}">{drawing.svg}</svg>{"".join(lines)}'
    )
    width_px = WIDTH_PX + 2 * _EDGE_PX
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" '
        f'width="{width_px}" height="{whole_px + 2 * _EDGE_PX:g}">'
        f"<style>{html.escape(style_sheet(), quote=False)}</style>"
        '<rect width="100%" height="100%" fill="var(--ground)"/>'
        f'<svg class="figure" x="{_EDGE_PX}" y="{_EDGE_PX}" width="{WIDTH_PX}" height="{whole_px:g}">'
        f"{inside}</svg></svg>\n"
    )
    return Picture(svg=svg, title=statement.title)

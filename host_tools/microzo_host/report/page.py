"""One self-contained HTML page: of a finished run, or of one that is watched live.

Scripts, styles and pictures are inside the file. Text of files and boards is escaped.
"""

import base64

import microzo

from .. import extras
from ..visible import visible
from . import run, trace


def report_page(report, title):
    """The page of a run.Report, as text."""
    encoded = {
        name: "data:image/png;base64," + base64.b64encode(data).decode()
        for name, data in report.pictures.items()
    }
    return _render(
        "report.html.j2", title, "microzo report", report.live, f=report.facts, pictures=encoded,
        curve_samples=trace.SAMPLES, shown=run.SHOWN,
    )  # fmt: skip


def live_page(title):
    """The page of `microzo watch --web`: the same curves, fed by the server's events."""
    empty = {"series": [], "stages": []}
    return _render("live.html.j2", title, "microzo watch", empty)


def _render(template, title, command, live, **more):
    try:
        import jinja2
    except ImportError:
        raise extras.missing("pages need the package Jinja2", "report") from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("microzo_host.report", "assets"), autoescape=True,
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )  # fmt: skip
    environment.filters.update(
        one=lambda value: f"{value:.1f}",
        whole=lambda value: f"{value:,.0f}",
        percent=lambda value: "-" if value is None else f"{value:.1f} %",
        mega=lambda value: f"{value / 1e6:g}",
        duration=duration,
        setting=_setting,
    )
    own = {
        name: jinja2.utils.markupsafe.Markup(environment.loader.get_source(environment, file)[0])
        for name, file in (("css", "page.css"), ("js", "curves.js"), ("live_js", "live.js"))
    }
    return environment.get_template(template).render(
        title=title, command=command, live=live, version=microzo.__version__, **own, **more
    )


def duration(seconds):
    """Seconds as a person says them."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _setting(value):
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)

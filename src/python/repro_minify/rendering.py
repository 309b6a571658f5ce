"""HTML of what a notebook shows. Text may come from a model: Jinja2 escapes all of it."""

from functools import cache
from typing import Any

import jinja2


@cache
def templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("repro_minify"), autoescape=True, undefined=jinja2.StrictUndefined
    )


def page(name: str, **values: Any) -> str:
    return templates().get_template(f"{name}.html.j2").render(**values)

"""Reading what a tool in a guest printed: strictly, within bounds, or not at all.

Everything here raises `not_understood` for text that is not exactly what the tool prints when it
succeeds. Guest output is untrusted, so sizes are bounded before any work is done on it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cvmbench.workloads.contract import not_understood, one_line

TEXT_LIMIT = 4 * 2**20
"""Characters; the bound of `Command.output_limit`, kept here too since parsers are also used on
stored output."""

DECIMAL = r"[0-9]{1,18}(?:\.[0-9]{1,12})?"
"""A plain non-negative decimal number: no sign, exponent, grouping or decimal comma."""

Count = Annotated[int, Field(ge=0, le=2**63 - 1)]
"""A whole number as tools count with, in 64 bits."""

Magnitude = Annotated[float, Field(gt=0, lt=1e18, allow_inf_nan=False)]
"""A positive finite number below what any rate or time here can be."""


class ToolModel(BaseModel):
    """The part that is read of a tool's JSON: types are exact, keys not named are left alone."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


M = TypeVar("M", bound=ToolModel)


def bounded(text: str, tool: str) -> str:
    """`text` itself if it is neither empty nor longer than `TEXT_LIMIT`."""
    if not text.strip():
        raise not_understood(tool, "it printed nothing")
    if len(text) > TEXT_LIMIT:
        raise not_understood(tool, f"it printed more than {TEXT_LIMIT:,} characters")
    return text


def the_match(pattern: re.Pattern[str], text: str, tool: str, what: str) -> re.Match[str]:
    """The one match of `pattern`, which stands for `what`; none and several are both wrong."""
    matches = pattern.finditer(text)
    match = next(matches, None)
    if match is None:
        raise not_understood(tool, f"it has no line with {what}")
    if next(matches, None) is not None:
        raise not_understood(tool, f"it has more than one line with {what}")
    return match


def number(text: str, tool: str, what: str) -> float:
    """A positive finite decimal number; anything else, `nan` and `1,5` included, is wrong."""
    if not re.fullmatch(DECIMAL, text):
        raise not_understood(tool, f"{what} is not a decimal number: {one_line(text, 40)!r}")
    value = float(text)
    if not 0 < value < 1e18:
        raise not_understood(tool, f"{what} is not above zero")
    return value


def agree(one: float, other: float, tolerance: float, tool: str, what: str) -> None:
    """Raise unless two numbers that say the same thing differ by at most `tolerance` of `other`."""
    if not math.isclose(one, other, rel_tol=0, abs_tol=tolerance * abs(other)):
        raise not_understood(tool, f"{what} disagree: {one:.6g} and {other:.6g}")


def expect(condition: bool, tool: str, reason: str) -> None:
    """Raise `not_understood` with `reason` unless `condition` holds."""
    if not condition:
        raise not_understood(tool, reason)


def read_json(text: str, tool: str) -> Any:
    """The value of one JSON text by the letter of RFC 8259: no NaN, and no key with two values.

    The same value twice is let pass: iperf3 3.12 prints `sock_bufsize` and two others twice.
    """

    def reject(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    def unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs) and any(mapping[key] != value for key, value in pairs):
            raise ValueError("a key has two values")
        return mapping

    try:
        return json.loads(bounded(text, tool), parse_constant=reject, object_pairs_hook=unambiguous)
    except (ValueError, RecursionError) as error:
        # RecursionError: nested deeper than Python's stack; only a broken or hostile guest does it.
        raise not_understood(tool, f"it is not valid JSON ({one_line(str(error), 80)})") from error


def read_model(data: Any, model: type[M], tool: str) -> M:
    """`data` (from `read_json`) as `model`; says which key is wrong otherwise."""
    try:
        return model.model_validate(data)
    except (ValidationError, OverflowError) as error:
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the whole"
            reason = f"{where}: {first['msg']}"
        else:
            reason = "a number is too large"
        raise not_understood(tool, one_line(reason)) from error

"""Reading a campaign from a file or a preset, with errors that name the key."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cvmbench.campaign.model import Campaign
from cvmbench.campaign.suggest import nearest
from cvmbench.errors import CampaignError, UsageError

LARGEST_FILE_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class CampaignSource:
    """A campaign with the text it was read from and where that came from."""

    origin: str
    text: str
    campaign: Campaign


def presets() -> dict[str, str]:
    """The campaigns that ship with the package: name -> text."""
    folder = resources.files("cvmbench.campaign") / "presets"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def read_campaign(name_or_path: str, settings: Sequence[str] = ()) -> CampaignSource:
    """The preset of that name, or the campaign in that file, with `settings` put over it.

    A setting is `KEY=VALUE`, KEY dotted for keys inside tables, VALUE in TOML (or a bare word).
    Raises CampaignError naming the file, the key, what is wrong and the nearest valid spelling.
    """
    known = presets()
    if name_or_path in known:
        return parse_campaign(known[name_or_path], f"preset '{name_or_path}'", settings)
    path = Path(name_or_path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise CampaignError(f"The campaign file {name_or_path!r} cannot be read: not a file.")
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise CampaignError(
                f"{path} is too large to be a campaign file.",
                remedy="Give a TOML file; see `cvmbench list presets`.",
            )
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CampaignError(
            f"There is no preset and no file called '{name_or_path}'.",
            remedy=nearest(name_or_path, known),
        ) from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise CampaignError(
            f"The campaign file {name_or_path!r} cannot be read: {error}."
        ) from None
    return parse_campaign(text, str(path), settings)


def parse_campaign(text: str, origin: str, settings: Sequence[str] = ()) -> CampaignSource:
    """The campaign written in `text` (TOML), with `settings` put over it; see `read_campaign`.

    `origin` is named in errors. The text that is kept names the settings in a comment.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise CampaignError(f"{origin} is not valid TOML: {error}.") from None
    for setting in settings:
        _put(data, setting)
        text += f"\n# --set {setting}"
    try:
        return CampaignSource(origin, text, Campaign.model_validate(data))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        sentences = [explain(problem, Campaign, data) for problem in problems[:5]]
        if len(problems) > 5:
            sentences.append(f"And {len(problems) - 5} more.")
        raise CampaignError(f"{origin}: " + "\n  ".join(sentences)) from None


def _put(data: dict[str, Any], setting: str) -> None:
    """Put one `KEY=VALUE` into `data`."""
    key, found, value = setting.partition("=")
    *tables, last = (part.strip() for part in key.split("."))
    if not found or not last or "\n" in setting:
        raise UsageError(
            f"The setting '{setting}' is not of the form KEY=VALUE.",
            remedy='For example: --set blocks=5 --set vm.memory="2 GiB"',
        )
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The value of the setting '{key}' cannot be read: {error}.") from None
    table = data
    for name in tables:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(f"'{name}' in the setting '{setting}' is not a table.")
        table = inner
    table[last] = parsed


def explain(problem: ErrorDetails, model: type[BaseModel], data: Any) -> str:
    """One problem pydantic found in `data` for `model`, as a sentence with the nearest spelling."""
    path = problem["loc"]
    key = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    key = key.lstrip(".") or "the campaign"
    match problem["type"]:
        case "extra_forbidden":
            known = _fields_at(model, path[:-1])
            return f"'{key}' is not a known key. {nearest(str(path[-1]), known)}"
        case "missing":
            return f"'{key}' is missing."
        case "tuple_type" | "list_type":
            return f"'{key}' must be a list, for example [\"plain\"]."
        case "literal_error":
            context = problem.get("ctx", {})
            return f"'{key}' is {problem['input']!r}, but must be {context.get('expected')}."
        case "value_error":
            return _sentence(f"{key}: {str(problem['msg']).removeprefix('Value error, ')}")
        case _:
            given = repr(problem["input"])
            given = given if len(given) <= 60 else given[:57] + "..."
            hint = _HINTS.get(str(path[-1]) if path else "", "")
            return f"'{key}' is {given}: {problem['msg'][0].lower()}{problem['msg'][1:]}.{hint}"


_HINTS = {
    "threshold": " Write it as a percentage, for example '5%'.",
    "memory": " Write it with a unit, for example '1 GiB'; 256 MiB is the least.",
    "data_disk": " Write it with a unit, for example '1 GiB'; 64 MiB is the least.",
}
"""What pydantic's own words leave open, by key."""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The field names of the table at `path` inside `model`."""
    current = model
    for part in path:
        if isinstance(part, int) or part not in current.model_fields:
            continue
        inner = _model_inside(current.model_fields[part].annotation)
        if inner is not None:
            current = inner
    return list(current.model_fields)


def _model_inside(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_inside(argument)
        if found is not None:
            return found
    return None

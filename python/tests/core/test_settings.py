"""The keywords of the package are those of the engine's table of settings."""

from __future__ import annotations

import inspect
import json

import cupel_context as cupel
from cupel_context import _native, _settings

TABLE = json.loads(_native.Engine("{}", []).ask("[]", '{"ask": "settings"}'))["settings"]


def test_the_engine_takes_what_the_table_says() -> None:
    keywords = {setting["keyword"] for setting in TABLE if setting["engine"]}
    taken = set(inspect.signature(cupel.Engine).parameters)
    # Functions of Python's are no data.
    assert taken - {"renderers"} == keywords


def test_a_call_takes_what_the_table_says() -> None:
    keywords = {setting["keyword"] for setting in TABLE if setting["call"]}
    assert set(_settings.CallOptions.__annotations__) == keywords


def test_every_option_is_said_in_a_docstring() -> None:
    told = inspect.getdoc(cupel.Engine) or ""
    missing = [name for name in inspect.signature(cupel.Engine).parameters if f"``{name}" not in told]
    assert not missing
    told = inspect.getdoc(cupel.select) or ""
    missing = [name for name in inspect.signature(cupel.select).parameters if f"``{name}" not in told]
    assert not missing

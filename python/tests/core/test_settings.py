"""The keywords of the package are those of the engine's table of settings."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import cupel
from cupel import _native, _settings

TABLE = json.loads(_native.Engine("{}", []).ask("[]", '{"ask": "settings"}'))["settings"]


def test_the_engine_takes_what_the_table_says() -> None:
    keywords = {setting["keyword"] for setting in TABLE if setting["engine"]}
    taken = set(inspect.signature(cupel.Engine).parameters)
    # Functions of Python's are no data.
    assert taken - {"renderers"} == keywords


def test_a_call_takes_what_the_table_says() -> None:
    keywords = {setting["keyword"] for setting in TABLE if setting["call"]}
    source = Path(_settings.__file__).read_text(encoding="utf-8")
    typed = source[source.index("class CallOptions") : source.index("def policy")]
    assert set(re.findall(r"^        (\w+):", typed, re.MULTILINE)) == keywords

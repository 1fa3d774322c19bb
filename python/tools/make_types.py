"""Writes lib/cupel_context/types.py: the answers of the engine as types, from their JSON Schemas.

python tools/make_types.py           writes the file
python tools/make_types.py --check   fails if it is not what it would write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
SCHEMAS = HERE.parent / "crates" / "cupel-engine" / "schemas"
TYPES = HERE / "lib" / "cupel_context" / "types.py"

# Names that the package has for something else.
RENAMED = {
    "Selection": "SelectionAnswer",
    "Step": "StepAnswer",
    "Repaired": "RepairedAnswer",
    "SelectionReport": "Report",
    "EngineError": "ErrorAnswer",
}

HEAD = '''"""The answers of the engine, as types. Made by tools/make_types.py: change it there."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

'''


def pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


class Writer:
    def __init__(self) -> None:
        self.done: dict[str, str] = {}
        """What each name was defined as, in order."""

    def reference(self, schema: Any) -> str:
        """A schema where it is used."""
        if schema is True or schema == {}:
            return "Any"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return RENAMED.get(name, name)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return "Literal[" + ", ".join(map(repr, schema["enum"])) + "]"
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self.union(self.reference(one) for one in schema[several])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self.union(self.reference({**schema, "type": one}) for one in kind)
        if kind == "array":
            return f"list[{self.reference(schema.get('items', {}))}]"
        plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        if kind == "object" and "additionalProperties" in schema and "properties" not in schema:
            return f"dict[str, {self.reference(schema['additionalProperties'])}]"
        return plain.get(kind, "dict[str, Any]" if kind == "object" else "Any")

    @staticmethod
    def union(kinds: Any) -> str:
        return "Union[" + ", ".join(dict.fromkeys(kinds)) + "]"

    def define(self, name: str, schema: dict[str, Any]) -> None:
        name = RENAMED.get(name, name)
        if name in self.done:
            return
        if "properties" in schema and "oneOf" not in schema:
            text = self.typed_dict(name, schema)
        elif all("properties" in one for one in schema.get("oneOf", [])) and "oneOf" in schema:
            text = self.tagged(name, schema)
        else:
            text = f"{name} = {self.reference(schema)}\n" + described(schema, "")
        self.done[name] = text

    def tagged(self, name: str, schema: dict[str, Any]) -> str:
        """One of several objects, told apart by a constant."""
        names, texts = [], []
        for one in schema["oneOf"]:
            tags = [value["const"] for value in one["properties"].values() if "const" in value]
            names.append(name + pascal(tags[0]))
            texts.append(self.typed_dict(names[-1], one))
        return "\n\n".join(texts) + f"\n\n{name} = {self.union(names)}\n" + described(schema, "")

    def typed_dict(self, name: str, schema: dict[str, Any]) -> str:
        required = set(schema.get("required", []))
        always = {key: value for key, value in schema["properties"].items() if key in required}
        seldom = {key: value for key, value in schema["properties"].items() if key not in required}
        if not seldom:
            return self.fields(f"class {name}(TypedDict):", schema, always)
        head = f"class _{name}(TypedDict):"
        base = self.fields(head, {"description": "What is always there."}, always)
        rest = self.fields(f"class {name}(_{name}, total=False):", schema, seldom)
        return base + "\n\n" + rest

    def fields(self, head: str, schema: dict[str, Any], fields: dict[str, Any]) -> str:
        text = f"{head}\n" + (described(schema, "    ") or '    """An answer."""\n') + "\n"
        for key, value in fields.items():
            value = {} if value is True else value
            text += f"    {key}: {self.reference(value)}\n" + described(value, "    ")
        return text


TAIL = '''

class Repaired(RepairedAnswer):
    """A request, repaired as far as it can be, with the caller's own messages."""

    messages: list[Any]
    """Its messages: the caller's own objects where they were not changed."""
    request: Any
    """The request, in the shape in which it was handed in."""
'''


def described(schema: dict[str, Any], indent: str) -> str:
    words = " ".join(schema.get("description", "").split()).replace("\\", "")
    return f'{indent}"""{words}"""\n' if words else ""


def written() -> str:
    writer = Writer()
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        for name, inner in schema.get("$defs", {}).items():
            writer.define(name, inner)
        writer.define(path.stem, schema)
    # Names are used before they are defined where that is in annotations only; unions need order.
    texts = sorted(writer.done.items(), key=lambda one: "= Union[" in one[1] and "class" not in one[1])
    names = sorted([*writer.done, "Repaired"])
    return (
        HEAD
        + "__all__ = [\n"
        + "".join(f"    {name!r},\n" for name in names)
        + "]\n\n\n"
        + "\n\n".join(text for _, text in texts)
        + TAIL
    )


if __name__ == "__main__":
    text = written()
    if "--check" in sys.argv:
        if TYPES.read_text(encoding="utf-8") != text:
            sys.exit("lib/cupel_context/types.py is not what tools/make_types.py writes; run it")
    else:
        TYPES.write_text(text, encoding="utf-8")

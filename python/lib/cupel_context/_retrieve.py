"""A tool for models: the whole of a text that a window has a shorter form of."""

from __future__ import annotations

import re
from collections.abc import Callable

from ._engine import Engine

_HANDLE = re.compile(r"cupel:[0-9a-f]{16}")

def retrieve_tool(engine: Engine) -> Callable[[str], str]:
    """A function for the model, by which it asks for the whole of what was sent shorter.

    From now on the engine remembers, within 64 MB, what its windows and those of its sessions and adapters
    shorten. The function has annotations and a docstring, which frameworks make a tool of: LangChain,
    AutoGen, ADK, pydantic-ai and LlamaIndex take it as it is, others with their own word for it, as
    ``function_tool`` of the OpenAI Agents SDK or ``tool`` of Strands and smolagents.

    >>> import json, cupel_context as cupel
    >>> orders = json.dumps([{"id": f"order-{n}", "note": "left at the door"} for n in range(60)])
    >>> call = {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}
    >>> messages = [
    ...     {"role": "user", "content": "List the orders."},
    ...     {"role": "assistant", "content": None, "tool_calls": [call]},
    ...     {"role": "tool", "tool_call_id": "c1", "content": orders},
    ...     {"role": "user", "content": "Which is the first?"},
    ... ]
    >>> engine = cupel.Engine(max_tokens=300, shorten="json")
    >>> retrieve = cupel.retrieve_tool(engine)
    >>> shortened = engine.select(messages).messages[2]["content"]
    >>> handle = shortened.splitlines()[-1]
    >>> handle.startswith("[whole: cupel:"), retrieve(handle) == orders
    (True, True)
    """
    originals = engine._remember()

    def retrieve(handle: str) -> str:
        """Returns the whole text of a result that was shortened.

        Args:
            handle: The handle that the shortened text names, as cupel:0366a61f7fbd4ca4.
        """
        found = _HANDLE.search(handle)
        text = None if found is None else originals.get(found[0])
        return f"There is no text with the handle {handle!r}." if text is None else text

    return retrieve

"""Trims a request with LangChain's `trim_messages`, as its guide shows: the newest messages that fit."""

import json
import sys

from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)
trimmed = trim_messages(
    convert_to_messages(request["messages"]),
    max_tokens=int(sys.argv[2]),
    strategy="last",
    token_counter=count_tokens_approximately,
    start_on="human",
    include_system=True,
)
request["messages"] = convert_to_openai_messages(trimmed)
json.dump(request, sys.stdout)

"""A compaction strategy of Agent Framework: what went says why."""

import asyncio

from agent_framework import Message, included_messages
from cupel_context.agent_framework import CupelStrategy

messages = [Message("user", [f"Note {n}: nothing happened."]) for n in range(100)]
asyncio.run(CupelStrategy(max_tokens=200)(messages))
print("Sent:", len(included_messages(messages)), "of", len(messages))
print(messages[1].additional_properties["_exclude_reason"])

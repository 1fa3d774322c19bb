"""A model context of AutoGen: it keeps every message, and hands out those that fit."""

import asyncio

from autogen_core.models import AssistantMessage, UserMessage
from cupel_context.autogen import CupelChatCompletionContext


async def main() -> None:
    context = CupelChatCompletionContext(model="gpt-4o", max_tokens=200)
    for n in range(40):
        await context.add_message(UserMessage(content=f"Note {n}: nothing happened.", source="user"))
        await context.add_message(AssistantMessage(content="I see.", source="clerk"))
    await context.add_message(UserMessage(content="Did anything happen?", source="user"))
    stored = (await context.save_state())["messages"]
    print("Sent:", len(await context.get_messages()), "of", len(stored), "messages")


asyncio.run(main())

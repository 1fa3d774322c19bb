"""An agent of Google ADK whose requests fit. The model is a fake; take your own."""

import asyncio

from cupel_context.adk import CupelPlugin
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types


class Fake(BaseLlm):
    model: str = "fake"

    async def generate_content_async(self, llm_request, stream=False):
        text = f"I saw {len(llm_request.contents)} contents."
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


async def main():
    agent = LlmAgent(name="notes", model=Fake())
    runner = InMemoryRunner(agent=agent, plugins=[CupelPlugin(max_tokens=150)])
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    for n in range(20):
        note = types.Content(role="user", parts=[types.Part(text=f"Note {n}: nothing happened.")])
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=note):
            answer = event.content.parts[0].text
    print(answer)


asyncio.run(main())

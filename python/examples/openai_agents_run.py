"""A run of the OpenAI Agents SDK whose requests fit. The model is a fake; take your own."""

import asyncio

from agents import Agent, ModelResponse, RunConfig, Runner, Usage
from agents.models.interface import Model
from cupel_context.openai_agents import input_filter
from openai.types.responses import ResponseOutputMessage, ResponseOutputText


class Fake(Model):
    async def get_response(self, system_instructions, input, *_, **__):
        text = ResponseOutputText(type="output_text", text=f"I saw {len(input)} items.", annotations=[])
        message = ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


history = [{"role": "user", "content": f"Note {n}: nothing happened."} for n in range(100)]
config = RunConfig(call_model_input_filter=input_filter(max_tokens=200), tracing_disabled=True)
result = asyncio.run(Runner.run(Agent(name="notes", model=Fake()), history, run_config=config))
print(result.final_output)

"""An agent of pydantic-ai whose requests fit. The model is a fake; take your own."""

from cupel_context.pydantic_ai import CupelWindow
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.test import TestModel

agent = Agent(TestModel(), capabilities=[CupelWindow(max_tokens=400)])
history = []
for n in range(50):
    history.append(ModelRequest(parts=[UserPromptPart(f"Note {n}: nothing happened.")]))
    history.append(ModelResponse(parts=[TextPart("I see.")]))
result = agent.run_sync("Where is the deploy key?", message_history=history)
print(result.output, "Stored:", len(result.all_messages()))

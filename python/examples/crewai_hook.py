"""A hook before the calls of CrewAI: what is sent fits. The model is a fake one."""

from crewai import Agent
from crewai.llms.base_llm import BaseLLM
from cupel_context.crewai import CupelHook

sent: list[int] = []


class Fake(BaseLLM):
    def call(self, messages, *_, **__):
        sent.append(len(messages))
        return "Thought: I can give a great answer\nFinal Answer: I see."


history = [{"role": "user", "content": f"Note {n}: nothing happened."} for n in range(60)]
agent = Agent(role="clerk", goal="Take notes", backstory="You are terse.", llm=Fake(model="gpt-4o"))
with CupelHook(max_tokens=400):
    agent.kickoff([*history, {"role": "user", "content": "Did anything happen?"}])
print("Sent:", sent[-1], "of", len(history) + 1, "messages")

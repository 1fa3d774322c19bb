"""An agent of LangChain that never sends more than fits. The model is a fake; take your own."""

from cupel_context.langchain import CupelMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

model = GenericFakeChatModel(messages=iter([AIMessage("On the blue card.")]))
agent = create_agent(model, middleware=[CupelMiddleware(max_tokens=200)])
history = [("user", f"Note {n}: nothing happened.") for n in range(100)]
state = agent.invoke({"messages": [*history, ("user", "Where is the deploy key?")]})
print(state["messages"][-1].text, "Stored:", len(state["messages"]))

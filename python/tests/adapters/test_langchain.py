"""LangChain, LangGraph and deepagents, with a model that is a script."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import cupel_context as cupel
import pytest
from cupel_context.langchain import CupelMiddleware, pre_model_hook, trim
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from story import (
    ANSWER,
    BUDGETS,
    QUESTION,
    STEPS,
    SYSTEM,
    Sent,
    calls,
    check_chat,
    check_pairs,
    check_run,
    look_up,
    total_calls,
)


@tool("look_up")
def looked_up(ship: int, field: str) -> str:
    """Looks up what the books say of a ship."""
    return look_up(ship, field)


class Script(BaseChatModel):
    """Calls tools for sixty steps, then answers. Notes what it was sent."""

    seen: list[list[BaseMessage]] = []
    step: int = 0
    steps: int = STEPS

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(list(messages))
        if self.step < self.steps:
            asked = [{"name": call.name, "args": call.arguments, "id": call.id} for call in calls(self.step)]
            answer = AIMessage("", tool_calls=asked)
        else:
            answer = AIMessage(ANSWER)
        self.step += 1
        return ChatResult(generations=[ChatGeneration(message=answer)])


def sent(messages: list[BaseMessage]) -> list[Sent]:
    roles = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
    return [
        Sent(
            roles[message.type],
            [call["id"] or "" for call in message.tool_calls] if isinstance(message, AIMessage) else [],
            [message.tool_call_id] if isinstance(message, ToolMessage) else [],
        )
        for message in messages
    ]


def tokens(messages: list[BaseMessage]) -> int:
    request = {"messages": messages, "tools": [convert_to_openai_tool(looked_up)]}
    return cupel.count(request)["total_tokens"]


PROVIDER = ChatOpenAI(model="gpt-4o", api_key="none")  # type: ignore[arg-type]


def check_own(window: list[BaseMessage]) -> None:
    """LangChain takes the window as messages, and its provider makes a request of it."""
    assert convert_to_messages(window) == window
    check_chat(PROVIDER._get_request_payload(window)["messages"])


def check_history(messages: list[BaseMessage]) -> None:
    """The stored history is whole."""
    assert len(messages) == 1 + STEPS + total_calls() + 1
    assert messages[-1].content == ANSWER
    check_pairs(sent(messages))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("thread", [None, "harbour"])
def test_an_agent_of_sixty_steps_fits(budget: int, thread: str | None) -> None:
    model = Script(seen=[])
    agent: Any = create_agent(
        model,
        [looked_up],
        system_prompt=SYSTEM,
        middleware=[CupelMiddleware(budget)],
        checkpointer=InMemorySaver() if thread else None,
    )
    config: dict[str, Any] = {"recursion_limit": 1_000}
    if thread:
        config["configurable"] = {"thread_id": thread}
    state = agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    check_run([sent(window) for window in model.seen], [tokens(one) for one in model.seen], budget)
    for window in model.seen:
        check_own(window)
    assert all(window[0].content == SYSTEM for window in model.seen)
    check_history(state["messages"])
    # The very objects of the history are sent.
    stored = {id(message) for message in state["messages"]}
    if not thread:
        assert all(id(message) in stored for message in model.seen[-1][1:])


def test_a_thread_is_a_session_that_keeps_the_cache() -> None:
    def unchanged(sessions: bool) -> int:
        model = Script(seen=[])
        agent: Any = create_agent(
            model,
            [looked_up],
            system_prompt=SYSTEM,
            checkpointer=InMemorySaver(),
            middleware=[CupelMiddleware(1_500, sessions=sessions)],
        )
        config = {"recursion_limit": 1_000, "configurable": {"thread_id": "one"}}
        agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
        common = 0
        for before, after in zip(model.seen, model.seen[1:]):
            for old, new in zip(before, after):
                if old.content != new.content or sent([old]) != sent([new]):
                    break
                common += 1
        return common

    assert unchanged(sessions=True) > 1.2 * unchanged(sessions=False)


def test_agents_that_share_a_thread_share_no_session() -> None:
    """An agent that is another one's tool runs in the same thread, with the same middleware."""
    middleware = CupelMiddleware(1_500)
    inner: Any = create_agent(Script(seen=[], steps=2), [looked_up], middleware=[middleware])

    @tool("ask")
    def asked(question: str) -> str:
        """Asks somebody else."""
        return str(inner.invoke({"messages": [HumanMessage(question)]})["messages"][-1].content)

    class Asks(Script):
        def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
            self.seen.append(list(messages))
            self.step += 1
            call = {"name": "ask", "args": {"question": QUESTION}, "id": f"ask_{self.step}"}
            answer = AIMessage("", tool_calls=[call]) if self.step < 3 else AIMessage(ANSWER)
            return ChatResult(generations=[ChatGeneration(message=answer)])

    outer: Any = create_agent(Asks(seen=[]), [asked], middleware=[middleware], checkpointer=InMemorySaver())
    outer.invoke({"messages": [HumanMessage(QUESTION)]}, {"configurable": {"thread_id": "one"}})
    # One of the outer agent, and one of each time that it asks.
    keys = [key for key, _ in middleware._fitter._conversations]  # type: ignore[misc]
    assert len(keys) == 3 and {key[0] for key in keys} == {"one"}
    assert len({key[1] for key in keys}) == 3


def test_tasks_are_served_too() -> None:
    model = Script(seen=[])
    agent: Any = create_agent(model, [looked_up], system_prompt=SYSTEM, middleware=[CupelMiddleware(1_000)])
    state = asyncio.run(agent.ainvoke({"messages": [HumanMessage(QUESTION)]}, {"recursion_limit": 1_000}))
    check_run([sent(window) for window in model.seen], [tokens(one) for one in model.seen], 1_000)
    check_history(state["messages"])


@tool("look_up")
def many_rows(ship: int, field: str) -> str:
    """Looks up all that the books say of a ship."""
    return json.dumps([{"ship": ship, "day": day, field: f"berth {day % 7}"} for day in range(30)])


@pytest.mark.parametrize("thread", [None, "harbour"])
def test_results_may_go_in_shorter(thread: str | None) -> None:
    model = Script(seen=[])
    agent: Any = create_agent(
        model,
        [many_rows],
        system_prompt=SYSTEM,
        middleware=[CupelMiddleware(1_000, shorten="json")],
        checkpointer=InMemorySaver() if thread else None,
    )
    config: dict[str, Any] = {"recursion_limit": 1_000}
    if thread:
        config["configurable"] = {"thread_id": thread}
    state = agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
    check_run([sent(window) for window in model.seen], [tokens(one) for one in model.seen], 1_000)
    check_history(state["messages"])
    whole = {message.tool_call_id: message.text for message in state["messages"] if message.type == "tool"}
    seen = [one for window in model.seen for one in window if isinstance(one, ToolMessage)]
    shorter = [one for one in seen if one.text != whole[one.tool_call_id]]
    assert shorter, "nothing was shortened"
    assert all(len(one.text) < len(whole[one.tool_call_id]) for one in shorter)


def test_deepagents_take_the_middleware() -> None:
    from deepagents import create_deep_agent

    model = Script(seen=[], steps=8)
    agent: Any = create_deep_agent(
        model=model, tools=[looked_up], system_prompt=SYSTEM, middleware=[CupelMiddleware(12_000)]
    )
    state = agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"recursion_limit": 1_000})
    assert state["messages"][-1].content == ANSWER
    for window in model.seen:
        check_pairs(sent(window))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_graph_takes_the_hook(budget: int) -> None:
    from langgraph.prebuilt import create_react_agent

    model = Script(seen=[])
    agent: Any = create_react_agent(
        model, [looked_up], prompt=SystemMessage(SYSTEM), pre_model_hook=pre_model_hook(budget)
    )
    state = agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"recursion_limit": 1_000})
    for window in model.seen:
        check_own(window)
    # The graph adds the prompt behind the hook.
    windows = [[one for one in window if one.type != "system"] for window in model.seen]
    counted = [cupel.count(window)["total_tokens"] for window in windows]
    check_run([sent(window) for window in windows], counted, budget)
    check_history(state["messages"])


def test_trim_has_the_shape_of_trim_messages() -> None:
    messages: list[BaseMessage] = [SystemMessage(SYSTEM), HumanMessage(QUESTION)]
    for step in range(20):
        asked = calls(step)
        messages.append(
            AIMessage("", tool_calls=[{"name": c.name, "args": c.arguments, "id": c.id} for c in asked])
        )
        messages += [ToolMessage(look_up(**c.arguments), tool_call_id=c.id) for c in asked]
    for budget in (400, 600, 1_000, 2_000):
        kept = trim(messages, max_tokens=budget)
        assert cupel.count(kept)["total_tokens"] <= budget
        assert all(any(one is own for own in messages) for one in kept)
        check_pairs(sent(kept))
        assert trim(max_tokens=budget).invoke(messages) == kept
    assert trim([("user", "hi")], max_tokens=50)[0].content == "hi"


def test_a_message_that_states_a_rule_is_never_left_out() -> None:
    told = [HumanMessage(f"{at}: the tide is high at {at} o'clock, and low again later") for at in range(40)]
    lamp = "8: beside the tide we saw the green lamp at the pier, which was lit all night long"
    told.insert(7, HumanMessage(lamp))
    assert not any("green lamp" in one.text for one in trim(told, max_tokens=120, policy="debugging"))
    for rules in ("the green lamp", ["the green lamp", "another"]):
        kept = trim(told, max_tokens=120, policy="debugging", rules=rules)
        assert any("green lamp" in one.text for one in kept)


def test_what_cannot_fit_is_said_before_the_model_is_called() -> None:
    model = Script(seen=[])
    agent: Any = create_agent(model, [looked_up], system_prompt=SYSTEM, middleware=[CupelMiddleware(20)])
    with pytest.raises(cupel.DoesNotFitError):
        agent.invoke({"messages": [HumanMessage(QUESTION)]})
    assert model.seen == []


def test_the_example_runs(example: Any) -> None:
    assert "On the blue card. Stored: 102" in example("langchain_agent.py")

"""Asks by the providers' Python libraries, streaming and not, with tools: talk.py URL."""

import sys

import anthropic
import openai
from google import genai
from google.genai import types

URL = sys.argv[1]
WORDS = "Hello from the upstream."
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}


def told(at):
    return f"Lighthouse {at} has {at * 7} steps, a keeper, a lamp, a boat, and a long story. " * 3


def dropped(headers):
    return int(headers["x-cupel-dropped"])


def chat(client, rounds):
    tools = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
    messages = [{"role": "system", "content": "You keep lighthouses."}]
    for at in range(rounds):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"How many steps has {at}?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": told(at)},
            {"role": "assistant", "content": f"{at * 7}."},
        ]
    messages.append({"role": "user", "content": "CALL look, and tell me which has the most."})
    create = client.chat.completions.create
    raw = client.chat.completions.with_raw_response.create(model="local", messages=messages, tools=tools)
    assert (dropped(raw.headers) > 0) == (rounds > 9), raw.headers
    message = raw.parse().choices[0].message
    call = message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("look", '{"at":"x"}')
    messages.append(message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": told(99)})
    answer = create(model="local", messages=messages, tools=tools)
    assert answer.choices[0].message.content == WORDS
    chunks = create(model="local", messages=messages, tools=tools, stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == WORDS, text
    stream = create(model="local", messages=messages[:-2], tools=tools, stream=True)
    names = [call.function.name for chunk in stream for call in chunk.choices[0].delta.tool_calls or []]
    assert names == ["look"], names


def responses(client, rounds):
    tools = [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": False}]
    items = []
    for at in range(rounds):
        items += [
            {"role": "user", "content": f"How many steps has {at}?"},
            {"type": "function_call", "call_id": f"c{at}", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{at}", "output": told(at)},
            {"role": "assistant", "content": f"{at * 7}."},
        ]
    items.append({"role": "user", "content": "CALL look, and tell me which has the most."})
    raw = client.responses.with_raw_response.create(model="local", input=items, tools=tools)
    assert (dropped(raw.headers) > 0) == (rounds > 9), raw.headers
    call = raw.parse().output[0]
    assert (call.type, call.name) == ("function_call", "look")
    items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": told(99)})
    assert client.responses.create(model="local", input=items, tools=tools).output_text == WORDS
    with client.responses.stream(model="local", input=items, tools=tools) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        assert text == stream.get_final_response().output_text == WORDS
    for event in client.responses.create(model="local", input=items[:-2], tools=tools, stream=True):
        last = event
    assert last.type == "response.completed" and last.response.output[0].name == "look"


def messages(client, rounds):
    tools = [{"name": "look", "input_schema": SCHEMA}]
    history = []
    for at in range(rounds):
        use = {"type": "tool_use", "id": f"t{at}", "name": "look", "input": {"at": str(at)}}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": told(at)}
        history += [
            {"role": "user", "content": f"How many steps has {at}?"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"{at * 7}."},
        ]
    history.append({"role": "user", "content": "CALL look, and tell me which has the most."})
    how = {"model": "local", "max_tokens": 50, "tools": tools, "system": "You keep lighthouses."}
    raw = client.messages.with_raw_response.create(messages=history, **how)
    assert (dropped(raw.headers) > 0) == (rounds > 9), raw.headers
    use = raw.parse().content[0]
    assert (use.type, use.input) == ("tool_use", {"at": "x"})
    history.append({"role": "assistant", "content": [use.model_dump(exclude_none=True)]})
    history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": told(99)}]})
    assert client.messages.create(messages=history, **how).content[0].text == WORDS
    with client.messages.stream(messages=history, **how) as stream:
        assert "".join(stream.text_stream) == WORDS
        assert stream.get_final_message().stop_reason == "end_turn"
    with client.messages.stream(messages=history[:-2], **how) as stream:
        assert stream.get_final_message().content[0].input == {"at": "x"}
    assert client.messages.count_tokens(model="local", messages=history).input_tokens == 7


def gemini(client, rounds):
    declared = {"name": "look", "description": "Looks.", "parameters": {
        "type": "OBJECT", "properties": {"at": {"type": "STRING"}}}}
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])], max_output_tokens=50,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = []
    part = types.Part
    for at in range(rounds):
        contents += [
            types.Content(role="user", parts=[part(text=f"How many steps has {at}?")]),
            types.Content(role="model", parts=[part.from_function_call(name="look", args={"at": str(at)})]),
            types.Content(role="user", parts=[part.from_function_response(name="look", response={"result": told(at)})]),
            types.Content(role="model", parts=[part(text=f"{at * 7}.")]),
        ]
    contents.append(types.Content(role="user", parts=[part(text="CALL look, and tell me.")]))
    answer = client.models.generate_content(model="local", contents=contents, config=config)
    headers = {name.lower(): value for name, value in answer.sdk_http_response.headers.items()}
    assert (dropped(headers) > 0) == (rounds > 9), headers
    assert answer.function_calls[0].args == {"at": "x"}
    contents.append(answer.candidates[0].content)
    response = part.from_function_response(name="look", response={"result": told(99)})
    contents.append(types.Content(role="user", parts=[response]))
    assert client.models.generate_content(model="local", contents=contents, config=config).text == WORDS
    stream = client.models.generate_content_stream(model="local", contents=contents, config=config)
    assert "".join(chunk.text for chunk in stream) == WORDS


for rounds in (1, 30):
    chat(openai.OpenAI(base_url=f"{URL}/v1", api_key="k"), rounds)
    responses(openai.OpenAI(base_url=f"{URL}/v1", api_key="k"), rounds)
    messages(anthropic.Anthropic(base_url=URL, api_key="k"), rounds)
    gemini(genai.Client(api_key="k", http_options=types.HttpOptions(base_url=URL)), rounds)
print(f"openai {openai.__version__}, anthropic {anthropic.__version__}, google-genai {genai.__version__}: accepted every answer")

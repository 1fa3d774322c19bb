"""Writes logs by the libraries that people log with: the same small run of an agent through each, against a
mock of a model on loopback. `python write.py NAME FOLDER` writes what NAME (a key of `WRITERS`) exports.

The run: a question, two calls of a tool with their results, and an answer, so three requests.
"""

import http.server
import json
import os
import sys
import threading
from pathlib import Path

QUESTION = "Where are the parcels PX-7 and QX-9? Look them up one by one."
RULES = "You are a courteous clerk of a depot."
TOOL = {
    "type": "function",
    "function": {
        "name": "find_parcel",
        "description": "Tells where a parcel is.",
        "parameters": {
            "type": "object",
            "properties": {"parcel": {"type": "string"}},
            "required": ["parcel"],
        },
    },
}
PARCELS = {"PX-7": "PX-7 is in depot 12, shelf C4.", "QX-9": "QX-9 is in depot 31, shelf A1."}
ANSWER = "PX-7 is in depot 12 on shelf C4, and QX-9 is in depot 31 on shelf A1."
MODEL = "gpt-4o-mini"
PROMPT_TOKENS = [77, 112, 149]
"""What the three requests of the run come to by OpenAI's rule for chat requests with `o200k_base`."""


class Mock(http.server.BaseHTTPRequestHandler):
    """OpenAI's chat endpoint, and a sink for everything else that is posted."""

    posted: list = []
    commands: list | None = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self.path.endswith("/chat/completions"):
            type(self).posted.append((self.path, dict(self.headers), body))
            return self.answer({})
        request = json.loads(body)
        done = sum(message["role"] in ("tool", "assistant") for message in request["messages"])
        message = {"role": "assistant", "content": ANSWER}
        called = sum(message["role"] == "assistant" for message in request["messages"])
        if self.commands is not None:
            message = self.commands[min(called, len(self.commands) - 1)]
        elif request.get("tools") and called < len(PARCELS):
            arguments = json.dumps({"parcel": list(PARCELS)[called]})
            function = {"name": request["tools"][0]["function"]["name"], "arguments": arguments}
            call = {"id": f"call_{called}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        is_run = request["messages"][0].get("content") == RULES and request.get("tools")
        prompt = PROMPT_TOKENS[called] if is_run and called < 3 else tokens(request)
        self.answer(
            {
                "id": f"chatcmpl-{done}",
                "object": "chat.completion",
                "created": 1763460000 + done,
                "model": request["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": message,
                        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                    }
                ],
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": 20,
                    "total_tokens": prompt + 20,
                },
            }
        )

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def tokens(value):
    """About as many tokens as a provider would count: a word of prose, or four characters."""
    texts = []

    def walk(value):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(value)
    return sum(max(1, len(text) // 4) for text in texts)


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def client(url):
    import openai

    return openai.OpenAI(base_url=f"{url}/v1", api_key="none")


def run(create):
    """The run, by a function that takes messages and answers with OpenAI's message."""
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": QUESTION}]
    while True:
        message = create(model=MODEL, messages=messages, tools=[TOOL]).choices[0].message
        messages = [*messages, message.model_dump(exclude_none=True)]
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            parcel = json.loads(call.function.arguments)["parcel"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": PARCELS[parcel]})


def langgraph(url, callbacks):
    """The run by LangGraph."""
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    try:
        from langchain.agents import create_agent
    except ImportError:
        from langgraph.prebuilt import create_react_agent as create_agent

    @tool
    def find_parcel(parcel: str) -> str:
        """Tells where a parcel is."""
        return PARCELS[parcel]

    agent = create_agent(
        ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key="none"), [find_parcel]
    )
    config = {"callbacks": callbacks, "metadata": {"thread_id": "thread-1"}}
    agent.invoke({"messages": [("system", RULES), ("user", QUESTION)]}, config)


def spans():
    """A provider of tracers whose spans stay in memory."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def write_otlp(exporter, path):
    """OTLP JSON, as a collector's file exporter writes it: ids in hexadecimal digits."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    document = MessageToDict(encode_spans(exporter.get_finished_spans()))
    path.write_text(json.dumps(document, indent=1) + "\n")


def write_readable(exporter, path):
    """One object a span, as the console exporter prints them."""
    lines = (json.dumps(json.loads(span.to_json())) for span in exporter.get_finished_spans())
    path.write_text("\n".join(lines) + "\n")


def otel_openai(url, folder, name, **environment):
    os.environ.update(environment)
    exporter = spans()
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    run(client(url).chat.completions.create)
    write_otlp(exporter, folder / f"{name}.json")


def otel(url, folder):
    """OpenTelemetry's own instrumentation of OpenAI's library: its spans have no messages."""
    otel_openai(
        url,
        folder,
        "otel",
        OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY",
    )


def otel_events(url, folder):
    """The same with the older conventions: messages are events in a log of their own."""
    from opentelemetry import _logs
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

    try:
        from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter as Exporter
    except ImportError:
        from opentelemetry.sdk._logs.export import InMemoryLogExporter as Exporter
    logs, provider = Exporter(), LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    _logs.set_logger_provider(provider)
    from opentelemetry import _events
    from opentelemetry.sdk._events import EventLoggerProvider

    _events.set_event_logger_provider(EventLoggerProvider(provider))
    otel_openai(url, folder, "otel-events", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")
    (folder / "otel-events.json").unlink()
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs

    document = MessageToDict(encode_logs(logs.get_finished_logs()))
    (folder / "otel-events.json").write_text(json.dumps(document, indent=1) + "\n")


def openllmetry(url, folder):
    """Traceloop's instrumentation."""
    exporter = spans()
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    run(client(url).chat.completions.create)
    write_otlp(exporter, folder / "openllmetry.json")


def openinference(url, folder):
    """OpenInference, which Phoenix reads."""
    exporter = spans()
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    run(client(url).chat.completions.create)
    write_otlp(exporter, folder / "openinference.json")


def openinference_langchain(url, folder):
    exporter = spans()
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument()
    langgraph(url, [])
    write_readable(exporter, folder / "openinference-langchain.jsonl")


def pydantic_ai(url, folder):
    exporter = spans()
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    Agent.instrument_all()
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))
    agent = Agent(model, system_prompt=RULES)

    @agent.tool_plain
    def find_parcel(parcel: str) -> str:
        """Tells where a parcel is."""
        return PARCELS[parcel]

    agent.run_sync(QUESTION)
    write_readable(exporter, folder / "pydantic-ai.jsonl")


def langfuse_rows(exporter, path):
    """Langfuse keeps input and output of observations in attributes; its server makes rows of them."""
    rows = []
    for span in exporter.get_finished_spans():
        about = dict(span.attributes)
        parsed = lambda name: json.loads(about[name]) if name in about else None  # noqa: E731
        rows.append(
            {
                "id": f"{span.context.span_id:016x}",
                "traceId": f"{span.context.trace_id:032x}",
                "parentObservationId": f"{span.parent.span_id:016x}" if span.parent else None,
                "type": about.get("langfuse.observation.type", "span").upper(),
                "name": span.name,
                "startTime": span.to_json() and json.loads(span.to_json())["start_time"],
                "input": parsed("langfuse.observation.input"),
                "output": parsed("langfuse.observation.output"),
                "model": about.get("langfuse.observation.model.name"),
                "modelParameters": parsed("langfuse.observation.model.parameters"),
                "usageDetails": parsed("langfuse.observation.usage_details") or {},
                "metadata": {},
            }
        )
    path.write_text(json.dumps({"data": rows, "meta": {"page": 1}}, indent=2) + "\n")


def langfuse_client(url):
    os.environ.update(
        LANGFUSE_PUBLIC_KEY="pk-lf-none", LANGFUSE_SECRET_KEY="sk-lf-none", LANGFUSE_HOST=url
    )
    exporter = spans()
    import langfuse

    langfuse.Langfuse(tracer_provider=__import__("opentelemetry.trace").trace.get_tracer_provider())
    return exporter


def langfuse_openai(url, folder):
    exporter = langfuse_client(url)
    import langfuse
    from langfuse.openai import OpenAI

    run(OpenAI(base_url=f"{url}/v1", api_key="none").chat.completions.create)
    langfuse.get_client().flush()
    langfuse_rows(exporter, folder / "langfuse-openai.json")


def langfuse_langgraph(url, folder):
    exporter = langfuse_client(url)
    import langfuse
    from langfuse.langchain import CallbackHandler

    langgraph(url, [CallbackHandler()])
    langfuse.get_client().flush()
    langfuse_rows(exporter, folder / "langfuse-langgraph.json")


def langsmith(url, folder):
    """Runs as LangSmith's client posts them, joined as its API lists them."""
    os.environ.update(LANGSMITH_TRACING="true", LANGSMITH_API_KEY="none", LANGSMITH_ENDPOINT=url)
    import langsmith as library

    made = {}

    class Recorder(library.Client):
        def create_run(self, name, inputs, run_type, **rest):
            made[str(rest["id"])] = {"name": name, "inputs": inputs, "run_type": run_type, **rest}

        def update_run(self, run_id, **rest):
            made[str(run_id)].update({k: v for k, v in rest.items() if v is not None})

    from langchain_core.tracers import LangChainTracer

    langgraph(url, [LangChainTracer(client=Recorder(api_url=url, api_key="none"))])
    lines = []
    for row in made.values():
        lines.append(json.dumps(row, default=dumped))
    (folder / "langsmith-langgraph.jsonl").write_text("\n".join(lines) + "\n")


def dumped(value):
    for name in ("model_dump", "isoformat"):
        if hasattr(value, name):
            return getattr(value, name)()
    return str(value)


def litellm(url, folder):
    """The standard payload that callbacks of LiteLLM get."""
    import litellm as library
    from litellm.integrations.custom_logger import CustomLogger

    payloads = []

    class Keep(CustomLogger):
        def log_success_event(self, kwargs, response_obj, start_time, end_time):
            payloads.append(kwargs["standard_logging_object"])

    library.callbacks = [Keep()]
    run(
        lambda **asked: library.completion(
            api_base=f"{url}/v1", api_key="none", **{**asked, "model": f"openai/{MODEL}"}
        )
    )
    import time

    for _ in range(100):
        if len(payloads) == 3:
            break
        time.sleep(0.1)
    payloads.sort(key=lambda payload: payload["startTime"])
    lines = (json.dumps(payload, default=dumped) for payload in payloads)
    (folder / "litellm.jsonl").write_text("\n".join(lines) + "\n")


def mlflow(url, folder):
    import mlflow as library

    library.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    library.openai.autolog()
    run(client(url).chat.completions.create)
    library.flush_trace_async_logging()
    traces = []
    for trace in library.search_traces(return_type="list"):
        traces.append(json.dumps(json.loads(trace.to_json())))
    (folder / "mlflow.jsonl").write_text("\n".join(reversed(traces)) + "\n")
    (folder / "mlflow.db").unlink()


def mini_swe_agent(url, folder):
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.litellm_model import LitellmModel

    call = lambda at, command: {  # noqa: E731
        "role": "assistant",
        "content": f"THOUGHT: step {at}",
        "tool_calls": [
            {
                "id": f"call_{at}",
                "type": "function",
                "function": {"name": "bash", "arguments": json.dumps({"command": command})},
            }
        ],
    }
    Mock.commands = [
        call(0, "echo the parcel PX-7 is in depot 12, ask there for the shelf"),
        call(1, "echo in depot 12 the parcel PX-7 stands on the shelf C4"),
        call(2, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo PX-7 is on shelf C4"),
    ]
    model = LitellmModel(
        model_name=f"openai/{MODEL}",
        model_kwargs={"api_base": f"{url}/v1", "api_key": "none"},
        cost_tracking="ignore_errors",
    )
    agent = DefaultAgent(
        model,
        LocalEnvironment(),
        system_template=RULES,
        instance_template="{{task}}",
        output_path=folder / "mini-swe-agent.traj.json",
    )
    agent.run(QUESTION)


def inspect(url, folder):
    import glob
    import shutil

    import inspect_ai as library
    from inspect_ai.agent import react
    from inspect_ai.dataset import Sample
    from inspect_ai.tool import tool

    @tool
    def find_parcel():
        async def execute(parcel: str) -> str:
            """Tells where a parcel is.

            Args:
                parcel: Its number.
            """
            return PARCELS[parcel]

        return execute

    os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=f"{url}/v1")
    for form in ("json", "eval"):
        task = library.Task(
            dataset=[Sample(input=QUESTION)],
            solver=react(prompt=RULES, tools=[find_parcel()], submit=False),
        )
        library.eval(
            task,
            model=f"openai/{MODEL}",
            log_dir=str(folder / "inspect"),
            log_format=form,
            display="none",
        )
        (written,) = glob.glob(f"{folder}/inspect/*.{form}")
        shutil.move(written, folder / f"inspect.{form}")
        shutil.rmtree(folder / "inspect")


WRITERS = {
    name: writer
    for name, writer in list(globals().items())
    if callable(writer) and getattr(writer, "__code__", None) and writer.__code__.co_varnames[:2] == ("url", "folder")
}

if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    WRITERS[name](serve(), folder.resolve())

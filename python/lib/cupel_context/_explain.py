"""Explanations for people: as text, and as a picture of the window."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Explanation, FittedTool, LeftOut, Part, Summary, ToGetIn, Why

_COLOURS = {
    "SystemPrompt": "#4c78a8",
    "ToolDefinition": "#72b7b2",
    "Message": "#54a24b",
    "ToolOutput": "#e8a33d",
    "Document": "#b279a2",
    "Memory": "#9d755d",
}


def headline(summary: Summary) -> str:
    """Outcome for the request, in a line."""
    kept, before = summary["messages_after"], summary["messages_before"]
    fits = summary["budget"]["target_tokens"]
    return (
        f"kept {kept:,} of {before:,} messages, {summary['tokens_after']:,} of {fits:,} tokens, "
        f"from {summary['tokens_before']:,}"
    )


def why(reason: Why) -> str:
    """Why something is out, in a few words."""
    if reason["reason"] == "no-room":
        return f"{reason['left']:,} left for it"
    if reason["reason"] == "no-room-for-needs":
        return f"{reason['left']:,} left, {reason['tokens']:,} with {reason['paths'][0]}, which it needs"
    if reason["reason"] == "share-used-up":
        return "the share of its kind is used up"
    if reason["reason"] == "pins-leave-no-room":
        return f"what must be in leaves {reason['left']:,}"
    if reason["reason"] == "same-text":
        path = reason.get("path")
        return f"same text as {path}" if path else "same text as another"
    if reason["reason"] == "too-many-of-kind":
        return f"only {reason['cap']} of {reason['kind']}"
    return reason["text"]


def to_get_in(way: ToGetIn) -> str:
    """Tokens or budget with which it would get in, in a few words."""
    if way["how"] == "more-tokens":
        return f"needs {way['tokens']:,} tokens more"
    if way["how"] == "less-tokens":
        return f"in at a budget of {way['budget']:,}"
    return "by no budget"


def _label(part: Part) -> str:
    return f"{part['path']}: {part['what']} · {part['excerpt']}"


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:.3f}"


def _tool(tool: FittedTool) -> str:
    how = "left out" if tool["fate"] == "left-out" else tool.get("step") or "whole"
    cost = f"{tool['tokens_after']:>6,} of {tool['tokens_before']:,}"
    return f"  {cost}  {how}  {tool['why']}  {tool['name']}"


def text(explanation: Explanation) -> str:
    """The whole explanation as text."""
    lines = [headline(explanation["summary"])]
    lines += [signal["text"] for signal in explanation.get("signals", [])]
    lines += ["", "kept, in order"]
    for kept in explanation["kept"]:
        part = kept["part"]
        reason = part.get("pinned") or kept["reason"]
        lines.append(f"  {_score(kept['score'])}  {part['tokens']:>6,}  {reason}  {_label(part)}")
    if explanation["left_out"]:
        lines += ["", "left out, best first"]
        lines += [_left_out(out) for out in explanation["left_out"]]
    if explanation["hidden"]:
        lines.append(f"and {explanation['hidden']:,} more")
    tools = explanation.get("tools", [])
    if any(tool["fate"] != "whole" for tool in tools):
        lines += ["", "tools"]
        lines += [_tool(tool) for tool in tools]
    for outdated in explanation.get("superseded", []):
        lines.append(f"dropped {outdated['older']}: {outdated['why']} in {outdated['newer']}")
    return "\n".join(lines)


def _left_out(out: LeftOut) -> str:
    part = out["part"]
    reason = f"{why(out['why'])}, {to_get_in(out['to_get_in'])}"
    return f"  {_score(out['score'])}  {part['tokens']:>6,}  {reason}  {_label(part)}"


def html(explanation: Explanation) -> str:
    """A picture of the window, with what went and why. Without scripts."""
    summary = explanation["summary"]
    window = [(kept["part"], True) for kept in explanation["kept"]]
    went = [(out["part"], False) for out in explanation["left_out"]]
    parts = sorted(window + went, key=lambda one: one[0]["position"])
    bar = "".join(_block(part, is_kept) for part, is_kept in parts)
    free = max(0, summary["budget"]["target_tokens"] - summary["tokens_after"])
    rows = "".join(_row(out) for out in explanation["left_out"])
    more = f"<p>and {explanation['hidden']:,} more</p>" if explanation["hidden"] else ""
    table = (
        "<table><thead><tr><th>score</th><th>tokens</th><th>why</th><th>to get in</th>"
        f"<th>left out</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    return (
        f"<div><p><b>{escape(headline(summary))}</b>, {free:,} free</p>"
        '<div style="display:flex;height:1.6em;width:100%;overflow:hidden;border-radius:3px">'
        f"{bar}</div>{table if rows else ''}{more}</div>"
    )


def _block(part: Part, is_kept: bool) -> str:
    colour = _COLOURS.get(part["kind"], "#7f7f7f") if is_kept else "#dddddd"
    state = "kept" if is_kept else "left out"
    title = escape(f"{state}: {_label(part)} ({part['tokens']:,} tokens)", quote=True)
    return (
        f'<div title="{title}" style="flex:{max(part["tokens"], 1)} 1 0;background:{colour};'
        'border-right:1px solid #fff"></div>'
    )


def _row(out: LeftOut) -> str:
    part = out["part"]
    cells = [
        _score(out["score"]),
        f"{part['tokens']:,}",
        why(out["why"]),
        to_get_in(out["to_get_in"]),
        _label(part),
    ]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"

"""`cupel` on the PATH is the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import cupel_context as cupel
import pytest

ROOT = Path(__file__).resolve().parents[3]
REQUEST = ROOT / "examples" / "support-chat.json"


def command() -> list[str]:
    """The script that pip installed."""
    script = Path(sysconfig.get_path("scripts")) / "cupel-context"
    if script.exists():
        return [str(script)]
    if "CUPEL_INSTALLED" in os.environ:
        pytest.fail(f"{script} was not installed")
    return [sys.executable, "-m", "cupel_context"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command(), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        **options,  # type: ignore[call-overload, no-any-return]
    )


def test_it_selects_what_the_package_selects() -> None:
    ran = run("select", str(REQUEST), "--max", "750")
    assert ran.returncode == 0
    selection = cupel.select(REQUEST.read_text(encoding="utf-8"), max_tokens=750)
    assert ran.stdout.rstrip("\n") == selection.text.rstrip("\n")
    assert "kept 7 of 115 messages" in ran.stderr


def test_it_reads_stdin_and_writes_json() -> None:
    ran = run("count", "-", "--json", input=REQUEST.read_text(encoding="utf-8"))
    assert json.loads(ran.stdout)["total_tokens"] == 3_998


def test_exit_codes_are_its_own() -> None:
    assert run("--version").stdout.strip() == f"cupel {cupel.__version__}"
    assert run("select", str(REQUEST), "--max", "10").returncode == 1
    assert run("select", "absent.json", "--max", "10").returncode == 2
    assert run("nonsense").returncode == 2


def test_a_closed_pipe_is_no_error() -> None:
    reader = f"{' '.join(command())} explain {REQUEST} --max 750 --all | head -n 1; exit ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", reader], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stderr == ""

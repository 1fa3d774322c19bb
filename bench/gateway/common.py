"""Building and starting what the scripts beside this one measure."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def build(quick):
    """The command, the upstream and the client, optimized unless it must be quick; those in the folder BUILT, if it is given."""
    folder = pathlib.Path(os.environ.get("BUILT", TARGET / ("debug" if quick else "release")))
    if "BUILT" not in os.environ:
        cargo = ["cargo", "build", "--quiet", *([] if quick else ["--release"])]
        subprocess.run([*cargo, "-p", "cupel-cli", "--features", "gateway"], cwd=ROOT, check=True)
        examples = ["--example", "fake-upstream", "--example", "load"]
        subprocess.run([*cargo, "-p", "cupel-gateway", *examples], cwd=ROOT, check=True)
    return folder / "cupel", folder / "examples" / "fake-upstream", folder / "examples" / "load"


class Server:
    """A process that says where it listens, and ends with the block that it was started for."""

    def __init__(self, *command, **how):
        self.process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how
        )
        line = self.process.stdout.readline()
        if "listening at " not in line:
            sys.exit(f"{command[0]}: {line}{self.process.stdout.read()}")
        address = line.split("listening at ")[1].split(",")[0].strip()
        self.url = address if address.startswith("http") else f"http://{address}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def resident_mb(self):
        """What it has of the memory now."""
        return self.status("VmRSS") / 1024

    def peak_mb(self):
        """The most that it had."""
        return self.status("VmHWM") / 1024

    def status(self, name):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split(f"{name}:")[1].split()[0])


def gateway(cupel, upstream, *flags):
    listen = ["--listen", "127.0.0.1:0", "--upstream", upstream.url]
    return Server(cupel, "gateway", *listen, "--tokenizer", "estimate", *flags)


def told(*command):
    """What a command prints, as JSON."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def metric(server, name):
    """A figure of a gateway; what was never counted is 0."""
    lines = get(f"{server.url}/cupel/metrics").splitlines()
    return float(next((line.rsplit(" ", 1)[1] for line in lines if line.startswith(f"{name} ")), 0))

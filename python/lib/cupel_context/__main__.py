"""The command ``cupel``."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Runs the command with the arguments of this process."""
    # Ctrl-C ends the command at once, as it ends the one that is built by cargo.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.run_command(["cupel-context", *sys.argv[1:]]))


if __name__ == "__main__":
    main()

"""`sandtrail init`: a first scenario, a test, a safe and an unsafe agent. Nothing that is there is written over."""

from __future__ import annotations

import argparse
from pathlib import Path

from sandtrail.sandbox.cli import UsageError, print_json, print_lines
from sandtrail.sandbox.starter import FILES
from sandtrail.sandbox.trail import Line


def init_command(options: argparse.Namespace) -> int:
    """Write the files. Raises UsageError where one of them is there already, or the folder cannot be written."""
    folder = Path(options.folder)
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise UsageError(f"{folder / there[0]} is there already, and is left as it is; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from None
    if options.json:
        print_json({"folder": str(folder), "files": list(FILES)})
        return 0
    at = "" if str(folder) == "." else f" {folder}"
    print_lines(
        [
            *(Line(f"  wrote {folder / name}") for name in FILES),
            Line(""),
            Line(f"next: pytest{at}    one test passes, one fails and shows why", "bold"),
            Line("exit 0: written"),
        ]
    )
    return 0

"""What goes wrong on a cluster, in one line."""

import re

# What stands before the message of an exception that a task has raised.
TRACE = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt))(?:: (.*))?$")
NO_PACKAGE = re.compile(r"No module named '(umbel|pyarrow|numpy)[.\w]*'")


class SparkError(RuntimeError):
    """Spark could not do the work."""


def short(error):
    """The exception that says why, without Java's or a task's trace."""
    text = str(error)
    missing = NO_PACKAGE.search(text)
    if missing:
        return SparkError(
            f"the executors have no package {missing[1]}: install it for their Python, or ship it as docs/spark.md shows (--archives)"
        )
    return SparkError(reason(text))


def reason(text):
    """The line that tells most: what a task has raised; else the first that says something."""
    lines = [line.strip().removeprefix(": ") for line in text.splitlines()]
    if "Traceback (most recent call last)" in text:
        raised = [found for found in map(TRACE.match, lines) if found and found[2]]
        if raised:
            kind, message = raised[-1].groups()
            return message if kind in ("ValueError", "OSError") else f"{kind}: {message}"
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    told = [line for line in lines if line and not line.startswith(("at ", "An error occurred while calling"))]
    why = causes[-1] if causes else told[0] if told else "it does not say why"
    # Java's names are long.
    return "Spark has failed: " + re.sub(r"^(?:[\w$]+\.)+", "", why)[:500]

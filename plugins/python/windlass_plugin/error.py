"""What a tool fails with."""


class ToolError(Exception):
    """A failure whose message the model reads."""

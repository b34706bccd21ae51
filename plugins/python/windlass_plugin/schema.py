"""JSON Schemas of Python types, and inputs read into them. The standard library alone.

`str`, `int`, `float`, `bool`, `None`, `list[T]`, `dict[str, T]`, `Literal[…]`, `T | None` and other unions, `Any`, dataclasses and
`TypedDict`; `Annotated[T, "what it is"]` describes a field.
"""

import dataclasses
import types
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(shape: Any) -> dict[str, Any]:
    """The schema of a type. Raises `TypeError` for one that has none."""
    origin, arguments = get_origin(shape), get_args(shape)
    if shape is Any:
        return {}
    if shape in _SIMPLE:
        return {"type": _SIMPLE[shape]}
    if origin is Annotated:
        words = [word for word in arguments[1:] if isinstance(word, str)]
        described = {"description": " ".join(words)} if words else {}
        return schema_of(arguments[0]) | described
    if origin in (Required, NotRequired):
        return schema_of(arguments[0])
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in arguments]}
    if dataclasses.is_dataclass(shape) or is_typeddict(shape):
        return _object(shape)
    raise TypeError(f"{shape!r} has no JSON Schema: use one of the types that windlass_schema names")


def _object(shape: Any) -> dict[str, Any]:
    hints = get_type_hints(shape, include_extras=True)
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    if dataclasses.is_dataclass(shape):
        required = []
        for field in dataclasses.fields(shape):
            if field.default is not dataclasses.MISSING:
                properties[field.name]["default"] = field.default
            elif field.default_factory is dataclasses.MISSING:
                required.append(field.name)
    else:
        required = [name for name in hints if name in shape.__required_keys__]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def read_input(shape: Any, value: Any) -> Any:
    """A JSON value as the type. The host has checked the value against the schema."""
    origin, arguments = get_origin(shape), get_args(shape)
    if origin in (Annotated, Required, NotRequired):
        return read_input(arguments[0], value)
    if origin is list:
        return [read_input(arguments[0], one) for one in value]
    if origin in (Union, types.UnionType) and type(None) in arguments:
        if value is None:
            return None
        (rest, *others) = [one for one in arguments if one is not type(None)]
        return value if others else read_input(rest, value)
    if dataclasses.is_dataclass(shape):
        hints = get_type_hints(shape, include_extras=True)
        return shape(**{name: read_input(hints[name], one) for name, one in value.items()})
    return value

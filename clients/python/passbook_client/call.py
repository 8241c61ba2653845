"""One request to the API, as the generated calls describe it."""
from __future__ import annotations

import dataclasses
from typing import Any, Mapping


@dataclasses.dataclass(frozen=True)
class Call:
    method: str
    path: str
    #: Values that are None are left out.
    query: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: Fields that are `...` are left out, and those that are None unless they are `nullable`. A call without a body has None.
    body: Mapping[str, Any] | None = None
    nullable: tuple[str, ...] = ()
    #: Whether the service carries the request out once per idempotency key.
    keyed: bool = False
    #: A new key if None.
    idempotency_key: str | None = None
    #: A field that the response must have. Otherwise something else sent it. Empty: the response has no certain field.
    field: str = ""
    #: Whether the response is CSV, which is returned as text.
    csv: bool = False

"""Costs in credits."""
from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

#: The most a job may cost, in credits.
COST_MAX_CREDITS = 1_000_000_000_000


def is_cost(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COST_MAX_CREDITS


def nearest_cost(value: Any) -> int | None:
    """A whole number of credits: a fraction is rounded up; None for what is no number of credits."""
    if is_cost(value):
        return int(value)
    is_number = isinstance(value, (float, Decimal)) and value == value
    return math.ceil(value) if is_number and 0 < value < COST_MAX_CREDITS else None

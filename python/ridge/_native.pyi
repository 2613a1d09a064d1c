# The binding itself: what it has is the package's own business.
from typing import Any

def __getattr__(name: str) -> Any: ...

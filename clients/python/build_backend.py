"""Builds the wheel (PEP 517, PEP 427) with the standard library, so that installing from the repository downloads nothing."""
from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import zipfile
from typing import Any

FOLDER = pathlib.Path(__file__).parent

#: The time of all files, so that the same source gives the same wheel.
_TIME = (2026, 1, 1, 0, 0, 0)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    settings = (FOLDER / "pyproject.toml").read_text()
    name, version, description, python = (
        _setting(settings, key) for key in ("name", "version", "description", "requires-python")
    )
    base = f"{name.replace('-', '_')}-{version}"
    metadata = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {description}\n"
        f"Requires-Python: {python}\nProvides-Extra: httpx\nRequires-Dist: httpx>=0.24; extra == 'httpx'\nDescription-Content-Type: text/markdown\n\n{(FOLDER / 'README.md').read_text()}"
    )
    files = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes()
        for path in sorted((FOLDER / "passbook_client").iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    }
    files[f"{base}.dist-info/METADATA"] = metadata.encode()
    files[f"{base}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: passbook\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{base}.dist-info/RECORD"
    lines = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = f"{base}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path, _TIME), content, zipfile.ZIP_DEFLATED)
    return wheel


def _setting(settings: str, key: str) -> str:
    # Python 3.10 has no parser of TOML.
    found = re.search(rf'^{re.escape(key)} = "([^"]*)"$', settings, re.MULTILINE)
    if found is None:
        raise ValueError(f"pyproject.toml has no {key}")
    return found[1]


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

"""Wheels for other computers: microzo's own without its C kernels, and what a set of them lacks.

pip resolves for another system, but it asks markers such as ``sys_platform`` of the computer that
it runs on. ``missing`` asks them of the target.
"""

import base64
import dataclasses
import email
import hashlib
import io
import pathlib
import zipfile

from packaging import markers, requirements, tags, utils

KERNELS = "_native"  # in the name of the file with the C kernels
OLD = (2014, 2010, 1)  # other names of manylinux_2_17, 2_12 and 2_5


@dataclasses.dataclass(frozen=True)
class Target:
    """A kind of computer: names of its platform tags, and what markers see there."""

    platforms: tuple
    os_name: str
    sys_platform: str
    system: str
    machine: str


TARGETS = {
    "windows": Target(("win_amd64",), "nt", "win32", "Windows", "AMD64"),
    "macos": Target(("macosx_13_0_arm64",), "posix", "darwin", "Darwin", "arm64"),
    "macos-intel": Target(("macosx_13_0_x86_64",), "posix", "darwin", "Darwin", "x86_64"),
    "linux": Target(
        tuple(f"manylinux{n}_x86_64" for n in (*(f"_2_{k}" for k in range(28, 4, -1)), *OLD)),
        "posix", "linux", "Linux", "x86_64",
    ),
}  # fmt: skip


def portable(wheel, folder):
    """Writes the wheel again for any system: without C kernels it computes with NumPy. Its path.

    ValueError if the wheel has no C kernels to leave out.
    """
    wheel = pathlib.Path(wheel)
    name, version, *_ = wheel.name.split("-")
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    kept = {path: data for path, data in files.items() if KERNELS not in path.rpartition("/")[2]}
    if len(kept) == len(files):
        raise ValueError(f"{wheel.name} has no C kernels: it fits every system as it is")
    lines = [
        line
        for line in kept[f"{info}/WHEEL"].decode().splitlines()
        if not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    lines = [line for line in lines if line] + ["Root-Is-Purelib: true", "Tag: py3-none-any", ""]
    kept[f"{info}/WHEEL"] = "\n".join(lines).encode()
    record = f"{info}/RECORD"
    del kept[record]
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in kept.items()]
    kept[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in kept.items():
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data, 8)
    target = pathlib.Path(folder, f"{name}-{version}-py3-none-any.whl")
    target.write_bytes(out.getvalue())
    return target


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def environment(target, python):
    """What markers see on a Target with CPython of a version such as "3.12"."""
    return {
        "os_name": target.os_name, "sys_platform": target.sys_platform,
        "platform_system": target.system, "platform_machine": target.machine,
        "python_version": python, "python_full_version": f"{python}.0",
        "implementation_name": "cpython", "implementation_version": f"{python}.0",
        "platform_python_implementation": "CPython", "platform_release": "",
        "platform_version": "",
    }  # fmt: skip


def accepted(target, python):
    """The tags of the wheels that pip takes on a Target."""
    version = tuple(int(part) for part in python.split("."))
    platforms = []
    for name in target.platforms:
        if name.startswith("macosx_"):
            _, major, minor, machine = name.split("_", 3)
            platforms += tags.mac_platforms((int(major), int(minor)), machine)
        else:
            platforms.append(name)
    return {
        *tags.cpython_tags(version, platforms=platforms),
        *tags.compatible_tags(version, f"cp{version[0]}{version[1]}", platforms),
    }


def missing(folder, root, target, python):
    """Requirements, sorted texts, that the wheels of a folder do not meet on a Target.

    root: what is to be installed, such as "microzo[lab]".
    """
    environ, takes = environment(target, python), accepted(target, python)
    wheels = {}
    for path in pathlib.Path(folder).glob("*.whl"):
        name, version, _, given = utils.parse_wheel_filename(path.name)
        if given & takes:
            wheels.setdefault(name, []).append((version, path))
    lacking, seen, todo = set(), set(), [requirements.Requirement(root)]
    while todo:
        wanted = todo.pop()
        name = utils.canonicalize_name(wanted.name)
        fitting = [
            (version, path)
            for version, path in wheels.get(name, [])
            if wanted.specifier.contains(version, prereleases=True)
        ]
        if not fitting:
            lacking.add(f"{wanted.name}{wanted.specifier}")
            continue
        path = max(fitting)[1]
        for extra in (*wanted.extras, ""):
            if (path, extra) not in seen:
                seen.add((path, extra))
                todo += _needs(path, environ, extra)
    return sorted(lacking)


def _needs(path, environ, extra):
    """Requirements of a wheel, with an extra or ""."""
    with zipfile.ZipFile(path) as archive:
        # A wheel may carry others inside: its own is at the top.
        (name,) = (
            n
            for n in archive.namelist()
            if n.endswith(".dist-info/METADATA") and n.count("/") == 1
        )
        message = email.message_from_bytes(archive.read(name))
    for text in message.get_all("Requires-Dist", []):
        need = requirements.Requirement(text)
        try:
            if need.marker is None or need.marker.evaluate({**environ, "extra": extra}):
                yield need
        except markers.UndefinedEnvironmentName:
            yield need

"""What a function stands on, as one number: its code, and all that it reaches.

Equal fingerprints mean equal behaviour, as far as a program can know. What is not seen raises Unseen, as does what
reads files or the network: its results can't be kept.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import importlib
import importlib.metadata
import random
import re
import struct
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_PYTHON = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
MOST = 1 << 28  # bytes that are looked at: more takes longer than running again

_BUILTIN = {"open", "input", "eval", "exec", "compile", "__import__", "globals", "locals", "vars"}  # reach anything
_READS = re.compile(r"open|urlopen|environ|getenv|glob|listdir|scandir|iterdir|from_pretrained|import_module|load\w*|"
                    r"read_\w+|fromfile|genfromtxt")
_PLAIN = (type(None), bool, int, float, complex, type(...), type(NotImplemented))
_OF_CODE = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code", "co_names", "co_varnames",
            "co_freevars", "co_cellvars", "co_exceptiontable")
_OF_C = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
         types.MethodWrapperType, types.ClassMethodDescriptorType, types.GetSetDescriptorType,
         types.MemberDescriptorType)
_NOT_OF_CLASS = re.compile(r"__(dict|weakref|doc|module|firstlineno|static_attributes|annotations\w*|annotate\w*|"
                           r"dataclass_\w+|abstractmethods|slotnames)__|_abc_impl")


class Unseen(Exception):
    """Says what can't be seen."""


def fingerprint(function: Any) -> str:
    """The SHA-256 of what a function does.

    Args:
        function: a function, a method, a partial or any object that can be called.

    Returns:
        64 hexadecimal digits, the same in each process of this version of Python and the libraries.

    Raises:
        Unseen: where something that it reaches can't be seen.
    """
    walk = _Walk()
    try:
        walk.add(function, getattr(function, "__name__", type(function).__name__))
    except RecursionError:
        raise Unseen("what is nested too deeply") from None
    return walk.digest()


class _Walk:
    """A walk over values, each of which is written once."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(_PYTHON.encode())
        self._size = 0
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no other object gets the id of one that was seen

    def digest(self) -> str:
        return self._hash.hexdigest()

    def _write(self, *parts: str | bytes) -> None:
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._size += len(data) + 8
            self._hash.update(struct.pack("<Q", len(data)))
            self._hash.update(data)
        if self._size > MOST:
            raise Unseen(f"more than {MOST >> 20} MiB")

    def add(self, value: Any, name: str) -> None:
        """Writes a value.

        Args:
            value: anything.
            name: where it was found, for errors.
        """
        kind = type(value)
        if kind in _PLAIN:
            self._write(kind.__name__, repr(value))
            return
        if kind in (str, bytes):
            self._write(kind.__name__, value)
            return
        if id(value) in self._seen:
            self._write("again", str(self._seen[id(value)]))
            return
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        self._write(kind.__qualname__)
        if kind in (list, tuple):
            self._all(value, name)
        elif kind in (set, frozenset):
            self._write(*sorted(fingerprint(one) for one in value))
        elif kind is dict:
            self._items(value.items(), name)
        elif isinstance(value, types.CodeType):
            self._code(value, name)
        elif isinstance(value, types.FunctionType):
            self._function(value, name)
        elif isinstance(value, types.ModuleType):
            self._module(value, name)
        elif isinstance(value, type):
            self._class(value, name)
        elif isinstance(value, _OF_C):
            self._of_c(value, name)
        else:
            self._object(value, name)

    def _all(self, values: Iterable[Any], name: str) -> None:
        for i, value in enumerate(values):
            self.add(value, f"{name}[{i}]")
        self._write("end")

    def _items(self, items: Iterable[tuple[Any, Any]], name: str) -> None:
        for key, value in items:
            self.add(key, f"a key of {name}")
            self.add(value, f"{name}[{key!r:.40}]")
        self._write("end")

    def _code(self, code: types.CodeType, name: str) -> None:
        for field in _OF_CODE:
            self._write(field, repr(getattr(code, field, None)))
        self._all(code.co_consts, name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        """A function of a library may have one of the user in a variable, as a decorator has."""
        self.add([function.__defaults__, function.__kwdefaults__, vars(function)], name)
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            self.add(value, f"{variable} in {name}")
        if self._library(function.__globals__.get("__name__", ""), function.__qualname__):
            return
        self.add(function.__code__, name)
        for code in _codes(function.__code__):
            self._names(code, function, name)

    def _names(self, code: types.CodeType, function: types.FunctionType, name: str) -> None:
        """What code takes from its module, from Python, and from modules that it imports."""
        variables = function.__globals__
        for step in dis.get_instructions(code):
            found = step.argval
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                self._write(found)
                if found in variables:
                    value = variables[found]
                    if _reads(value):
                        raise Unseen(f"what {found}() reads in {name}")
                    self.add(value, found)
                elif found in _BUILTIN:
                    raise Unseen(f"what {found}() reads in {name}")
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and _READS.fullmatch(found):
                raise Unseen(f"what .{found} reads in {name}")
            elif step.opname == "IMPORT_NAME":
                self._import(found, name)

    def _import(self, module: str, name: str) -> None:
        try:
            self.add(importlib.import_module(module), module)
        except ImportError:
            raise Unseen(f"import {module} in {name}") from None

    def _module(self, module: types.ModuleType, name: str) -> None:
        if self._library(module.__name__, ""):
            return
        for key, value in sorted(vars(module).items()):
            if not key.startswith("__"):
                self._write(key)
                self.add(value, f"{name}.{key}")

    def _class(self, kind: type, name: str) -> None:
        if self._library(kind.__module__, kind.__qualname__):
            return
        self._write(kind.__qualname__)
        self._all(kind.__bases__, name)
        for key, value in sorted(vars(kind).items()):
            if not _NOT_OF_CLASS.fullmatch(key):
                self._write(key)
                self.add(value, f"{kind.__name__}.{key}")

    def _of_c(self, value: Any, name: str) -> None:
        """A function or method that is not written in Python."""
        self._write(value.__qualname__, str(getattr(value, "__module__", "")))
        owner = getattr(value, "__self__", None)
        if owner is not None and owner is not getattr(random, "_inst", None):  # its state is not the function's
            self.add(owner, name)
        if owner is None and hasattr(value, "__objclass__"):
            self.add(value.__objclass__, name)

    def _object(self, value: Any, name: str) -> None:
        """Any other object: its class, and what pickle would write of it."""
        kind = type(value)
        if (kind.__module__, kind.__name__) == ("mldpbench._roles", "Command"):
            return self.add(value.function, name)
        self.add(kind, name)
        if isinstance(value, (staticmethod, classmethod)):
            return self.add(value.__func__, name)
        if isinstance(value, property):
            return self.add([value.fget, value.fset, value.fdel], name)
        if isinstance(value, functools.cached_property):
            return self.add(value.func, name)
        if isinstance(value, functools._lru_cache_wrapper):
            return self.add(value.__wrapped__, name)
        try:
            reduce = copyreg.dispatch_table.get(kind)
            parts = reduce(value) if reduce else value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 (any code of a library may run here)
            raise Unseen(f"{name}, a {kind.__name__}") from None
        if isinstance(parts, str):
            if not self._library(kind.__module__, parts):
                raise Unseen(f"{name}, a {kind.__name__}")
            return None
        make, arguments, state, values, items = (*parts, None, None, None)[:5]
        self.add(make, name)
        self.add([arguments, state], name)
        self._all(values or (), name)
        self._items(items or (), name)
        return None

    def _library(self, module: str, name: str) -> bool:
        """Writes the name and version of what belongs to Python or an installed library."""
        root = module.partition(".")[0]
        if root == "mldpbench":
            raise Unseen(f"what {name or module} asks mldp")
        if not _installed(root):
            return False
        self._write("library", module, name, _version(root))
        return True


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and that of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _reads(value: Any) -> bool:
    """Whether a value is a function of a library that reads files, by its name."""
    name = getattr(value, "__name__", None)
    module = getattr(value, "__module__", None)
    return (callable(value) and isinstance(name, str) and isinstance(module, str)
            and _READS.fullmatch(name) is not None and _installed(module.partition(".")[0]))


@functools.cache
def _installed(root: str) -> bool:
    """Whether a module is one of Python or of an installed library, not the user's."""
    module = sys.modules.get(root)
    if module is None or root in ("", "__main__", "mldpbench"):
        return False
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", [])]
    files = [Path(place).resolve() for place in places if place]
    if not files:
        return True  # in the interpreter
    libraries = [Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(library in file.parents or {"site-packages", "dist-packages"} & {*file.parts}
               for file in files for library in libraries)


@functools.cache
def _version(root: str) -> str:
    """The version of a library, that of Python where it has none."""
    version = getattr(sys.modules[root], "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return importlib.metadata.version(root)
    except importlib.metadata.PackageNotFoundError:
        return _PYTHON

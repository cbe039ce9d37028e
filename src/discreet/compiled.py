"""Machine code from LLVM's text, where llvmlite is installed: for loops that NumPy has no name for."""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ENGINES: list[Any] = []  # machine code lives as long as its engine
_ONE_AT_A_TIME = Lock()


def compile_file(path: Path, arguments: str, words: Mapping[str, str] | None = None) -> Any:
    """Return the function that a .ll file defines under its own name, or None without llvmlite.

    Compiled for this processor in some milliseconds; callers keep it. `arguments` has a letter for each: p
    for a pointer, i for a 64-bit whole number. `words` of the text are replaced by others first.
    """
    import ctypes

    try:
        llvm: Any = import_module("llvmlite.binding")
    except ImportError:
        return None
    text = path.read_text(encoding="utf-8")
    for word, other in (words or {}).items():
        text = text.replace(word, other)
    with _ONE_AT_A_TIME:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(text)
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
        )
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        _ENGINES.append(engine)
    kinds = [ctypes.c_void_p if one == "p" else ctypes.c_int64 for one in arguments]
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(path.stem))

"""Machine code from LLVM's text, where llvmlite is installed: for loops that NumPy has no name for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ENGINES: list[Any] = []  # machine code lives as long as its engine


def compile_text(text: str, name: str, arguments: str, *, widen: bool = False) -> Any:
    """Return the function `name` that the text defines, or None without llvmlite.

    Compiled for this processor in some milliseconds; callers keep it. `arguments` has a letter for each: p
    for a pointer, i for a 64-bit whole number. `widen` lets the compiler make loops work on several numbers
    at once. Other threads of the interpreter go on while it runs.
    """
    import ctypes

    try:
        llvm: Any = import_module("llvmlite.binding")
    except ImportError:
        return None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    if widen:
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    kinds = [ctypes.c_void_p if one == "p" else ctypes.c_int64 for one in arguments]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(engine.get_function_address(name))

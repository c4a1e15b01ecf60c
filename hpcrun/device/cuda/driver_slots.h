#pragma once
// Putting functions of ours into the import slots of the program's modules, not of NVIDIA's own.
// Thread-safe; not async-signal-safe.

namespace hpcrun::cuda {

// A function of ours for one of this name, or nullptr.
using Substitute = void* (*)(const char* name) noexcept;

// In all modules that are loaded, if any was added since the last call with this function.
void substitute_imports(Substitute substitute) noexcept;

// Is the code NVIDIA's driver?
bool is_of_driver(const void* code) noexcept;

}  // namespace hpcrun::cuda

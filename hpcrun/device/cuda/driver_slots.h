#pragma once
// Puts our functions into the import slots of the program's modules, except NVIDIA's own. Thread-safe; not
// async-signal-safe.

namespace hpcrun::cuda {

// Returns our function for the one with this name, or nullptr.
using Substitute = void* (*)(const char* name) noexcept;

// Writes the slots of all loaded modules, if any was added since the last call with this function.
void substitute_imports(Substitute substitute) noexcept;

// True if the code is in NVIDIA's driver.
bool is_of_driver(const void* code) noexcept;

}  // namespace hpcrun::cuda

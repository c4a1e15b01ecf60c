#pragma once
// Converts linkage names to names as in the source: C++ (Itanium ABI) and Rust.

#include <string>
#include <string_view>

namespace prof {

// Returns the name unchanged if it is not mangled or cannot be demangled.
std::string demangle(std::string_view name);

}  // namespace prof

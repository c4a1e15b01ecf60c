#pragma once
// Linkage names to names as the source has them: C++ (Itanium ABI) and Rust.

#include <string>
#include <string_view>

namespace prof {

// The name itself where it is not mangled or cannot be demangled.
std::string demangle(std::string_view name);

}  // namespace prof

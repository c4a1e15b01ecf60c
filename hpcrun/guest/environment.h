#pragma once
// Reads the environment without the C library's getenv(). Some programs (bash) define a getenv() that
// allocates, and forked children must not allocate before the program's fork handlers have run.
// Async-signal-safe, unless the program changes its environment at the same time.

#include <unistd.h>

#include <cstring>

namespace hpcrun {

// Returns the variable's value, or nullptr if it is not set. The memory belongs to the environment.
inline const char* environment_value(const char* name) noexcept {
  const size_t length = strlen(name);
  for (char* const* at = environ; at && *at; ++at)
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  return nullptr;
}

}  // namespace hpcrun

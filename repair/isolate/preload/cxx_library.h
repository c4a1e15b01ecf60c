#pragma once
// Checks whether GCC's C++ library is loaded. Takes the loader's lock; does not allocate.

#include <link.h>
#include <string.h>

namespace hpcrun {

inline bool has_cxx_library() noexcept {
  return dl_iterate_phdr(
      [](dl_phdr_info* module, size_t, void*) -> int {
        return module->dlpi_name && strstr(module->dlpi_name, "/libstdc++.so");
      },
      nullptr);
}

}  // namespace hpcrun

#pragma once
// A function on a call path, for sentences, findings and pages.

#include <cstdint>
#include <string>

namespace prof {

struct CodeFrame {
  std::string function, file, module;  // empty if not known; file and module with their folders
  uint32_t line = 0;                   // 0: not known
};

}  // namespace prof

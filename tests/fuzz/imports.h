#pragma once
// Shared by the fuzz targets of imports.

#include <cstdio>
#include <cstdlib>

#include "analysis/import/import.h"
#include "tests/analysis/database/rules.h"

namespace prof::test {

// Imports arbitrary bytes. The result must obey the rules of model.h.
inline int import_any(const uint8_t* data, size_t size, ImportFormat format) {
  ImportOptions options;
  options.format = format;
  options.open_modules = false;  // the bytes may name any file
  try {
    const std::string broken = broken_rule(import_bytes({data, size}, "input", options).database);
    if (!broken.empty()) {
      std::fprintf(stderr, "broken rule: %s\n", broken.c_str());
      std::abort();
    }
  } catch (const ImportError&) {
  }
  return 0;
}

}  // namespace prof::test

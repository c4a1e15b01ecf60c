#pragma once
// Accessors for tests of imports.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/import/import.h"

namespace prof::test {

inline std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline Import import_text(const std::string& text, const ImportOptions& options = {}) {
  return import_bytes(bytes_of(text), "test", options);
}

// Returns "main thread/a:12/+b": the functions from the entry point on, each with its line, "+" before
// inlined ones.
std::string path_of(const Database& database, uint32_t context);

// Returns the cost sampled in each path of a profile, in the metric's unit.
std::map<std::string, double> points(const Database& database, size_t profile = 0, uint32_t metric = 0);

// Returns the inclusive cost of all profiles' entry points.
double total(const Database& database, uint32_t metric = 0);

// Returns the kind of the error with which the import fails. Fails the test if it does not.
ImportError::Kind failure_of(const std::string& contents, const ImportOptions& options = {});

}  // namespace prof::test

#pragma once
// What the tests of imports look at.

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

// "main thread/a:12/+b": functions from the entry point on, each with the line in it, "+" before inlined
// ones.
std::string path_of(const Database& database, uint32_t context);

// What was sampled in each path of a profile, in the metric's unit.
std::map<std::string, double> points(const Database& database, size_t profile = 0, uint32_t metric = 0);

// The inclusive cost of all profiles' entry points.
double total(const Database& database, uint32_t metric = 0);

// The kind of the error that importing ends with; fails the test where it does not.
ImportError::Kind failure_of(const std::string& contents, const ImportOptions& options = {});

}  // namespace prof::test

#pragma once
// Where in its file a trace lies, for those who go to any record of it without reading the ones before: the
// viewer. Its records are of format::kTraceElementBytes each, u64 time and u32 context identifier, 0 where
// nothing runs; nobody checked them yet.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/database/model.h"

namespace prof {

class ContextIds;

struct TraceExtent {
  std::filesystem::path file;
  uint64_t begin = 0;  // offsets of its first byte and behind its last one; whole records, inside the file
  uint64_t end = 0;
  std::shared_ptr<const ContextIds> contexts;  // identifiers in the file to contexts of the database
};

// Nothing where the source is not one of read_database()'s.
std::optional<TraceExtent> extent_of(const TraceSource& source);

}  // namespace prof

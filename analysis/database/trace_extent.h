#pragma once
// Locates a trace in its file, for random access by the viewer. Each record has format::kTraceElementBytes: a
// u64 time and a u32 context identifier, 0 if nothing runs. Records have not been validated.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/database/model.h"

namespace prof {

class ContextIds;

struct TraceExtent {
  std::filesystem::path file;
  uint64_t begin = 0;  // offsets of its first byte and past its last one; whole records, inside the file
  uint64_t end = 0;
  std::shared_ptr<const ContextIds> contexts;  // maps identifiers in the file to contexts of the database
};

// Returns nullopt if the source is not one of read_database()'s.
std::optional<TraceExtent> extent_of(const TraceSource& source);

}  // namespace prof

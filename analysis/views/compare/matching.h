#pragma once
// Merges two databases, to compare them. Entries with the same name count as one, whatever their addresses.
// Therefore runs of a program can be compared after it was rebuilt, or built elsewhere.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

struct MatchedDatabases {
  // The merged database: all entries of the first database at their own indices, followed by those that only
  // the second one has. Its metrics are those of both, and then all of them a second time, for the second
  // database's values. Threads and their values are those of the first; there are no summaries and no traces.
  Database database;
  std::vector<uint32_t> contexts;  // per context of the second database: its context in `database`
  std::vector<uint32_t>
      metrics;  // per metric of the second database: its metric in `database`, of those of both
  std::vector<uint32_t> files;  // per file of `database`: that of the second database, or kNone
  size_t metric_count = 0;      // of both
};

// Returns the name of the function that the compiler made a copy of: "f" for "f.constprop.0" and "f [clone
// .cold]".
std::string_view without_clone(std::string_view name);

// Receives the progress, 0..1. Returns false to stop.
using MatchProgress = std::function<bool(double share)>;

// Matches functions by name. If several have the same name, matches them by module and file, and if those
// differ, too, by the order of their lines. Compiler-made copies of a function ("f.constprop.0", "f [clone
// .cold]") match the function if the other side has no such copy. Functions that differ only in their
// parameters match likewise. Files match by path, otherwise by a base name that only one file has. Metrics
// match by name and unit. Returns nullptr and keeps nothing if it was stopped.
std::unique_ptr<const MatchedDatabases> match_databases(const Database& first, const Database& second,
                                                        const MatchProgress& progress = {});

}  // namespace prof

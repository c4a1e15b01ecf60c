#pragma once
// Two databases as one, to compare them. What has the same name in both is one thing, at whatever address it
// lies: so runs of a program compare that was built anew, or elsewhere.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

struct MatchedDatabases {
  // Everything of the first database at its own indices, then what only the second one has. Metrics are those
  // of both, and then all of them a second time, for the second database's values. Threads and their values
  // are those of the first; there are no summaries and no traces.
  Database database;
  std::vector<uint32_t> contexts;  // per context of the second database: its context in `database`
  std::vector<uint32_t>
      metrics;  // per metric of the second database: its metric in `database`, of those of both
  std::vector<uint32_t> files;  // per file of `database`: that of the second database, or kNone
  size_t metric_count = 0;      // of both
};

// The name of the function that the compiler made a copy of: "f" for "f.constprop.0" and "f [clone .cold]".
std::string_view without_clone(std::string_view name);

// How far it is, 0..1. Returns false to give up.
using MatchProgress = std::function<bool(double share)>;

// Functions match by name, then by module and file where several have one; where those differ, too, in the
// order of their lines. Copies that the compiler made of a function ("f.constprop.0", "f [clone .cold]")
// match the function where the other side has no such copy, and so do functions that differ in what they take
// alone. Files match by path, else by a base name that
// only one file has. Metrics match by name and unit. nullptr if it was given up; then nothing is kept.
std::unique_ptr<const MatchedDatabases> match_databases(const Database& first, const Database& second,
                                                        const MatchProgress& progress = {});

}  // namespace prof

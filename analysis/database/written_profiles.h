#pragma once
// What write_profiles() knows of profile.db when it is written, from which write_contexts() reads its values;
// and what that computes of them.

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/database/lex_aware.h"
#include "analysis/database/model.h"

namespace prof {

// A profile's values in profile.db.
struct ValueBlock {
  uint64_t value_count = 0, values = 0;
  uint32_t context_count = 0;
  uint64_t indices = 0;
  // What comes before each of WrittenProfiles::cuts.
  struct Before {
    uint32_t contexts;
    uint64_t values;
  };
  std::vector<Before> cuts;
};

struct WrittenProfiles {
  std::vector<ValueBlock> blocks;      // of each profile
  std::vector<uint32_t> cuts;          // ids of contexts, rising, which part the contexts into ranges
  std::vector<uint64_t> value_counts;  // of each range, which are one more than cuts
  uint64_t end = 0;                    // of the last one's in the file
  std::unique_ptr<LexAware> lex_aware;
};

// Statistics over profiles.
struct WrittenContexts {
  std::vector<Summary> summaries;  // as Database::summaries, where that has none
  std::vector<Summary> global;     // of the global context, by metric
};

template <typename Archive>
void fields(Archive& archive, ValueBlock& block) {
  auto& [value_count, values, context_count, indices, cuts] = block;
  archive(value_count, values, context_count, indices, cuts);
}

}  // namespace prof

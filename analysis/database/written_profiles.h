#pragma once
// Describes profile.db as write_profiles() wrote it, so that write_contexts() can read the values; and the
// statistics that write_contexts() computes.

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/database/lex_aware.h"
#include "analysis/database/model.h"

namespace prof {

// The location of a profile's values in profile.db.
struct ValueBlock {
  uint64_t value_count = 0, values = 0;
  uint32_t context_count = 0;
  uint64_t indices = 0;
  // The numbers of contexts and values before each of WrittenProfiles::cuts.
  struct Before {
    uint32_t contexts;
    uint64_t values;
  };
  std::vector<Before> cuts;
};

struct WrittenProfiles {
  std::vector<ValueBlock> blocks;      // of each profile
  std::vector<uint32_t> cuts;          // ascending context identifiers that divide the contexts into ranges
  std::vector<uint64_t> value_counts;  // of each range; one more than cuts
  uint64_t end = 0;                    // offset of the end of the last block in the file
  std::unique_ptr<LexAware> lex_aware;
};

// Statistics over profiles.
struct WrittenContexts {
  std::vector<Summary> summaries;  // for Database::summaries, if that is empty
  std::vector<Summary> global;     // of the global context, by metric
};

template <typename Archive>
void fields(Archive& archive, ValueBlock& block) {
  auto& [value_count, values, context_count, indices, cuts] = block;
  archive(value_count, values, context_count, indices, cuts);
}

}  // namespace prof

#pragma once
// Reads what write_profiles() wrote, for all profiles, by ranges of contexts (WrittenProfiles::cuts). Throws
// DatabaseError if it cannot be read or differs from what was written.

#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "analysis/database/format.h"
#include "analysis/database/model.h"
#include "analysis/database/written_profiles.h"

namespace prof {

class ValuesByRange {
 public:
  // `ids`: the number of value identifiers.
  ValuesByRange(std::filesystem::path file, const Database& database, const WrittenProfiles& written,
                uint32_t ids);
  ValuesByRange(const ValuesByRange&) = delete;
  ValuesByRange& operator=(const ValuesByRange&) = delete;
  ~ValuesByRange();

  // The values of all profiles for consecutive ranges.
  struct Read {
    size_t first_range, end_range;
    std::vector<char> bytes;
    std::vector<size_t> begin;  // for each profile: its indices, then its values
  };

  // Safe to call from several threads at once.
  Read read(size_t first_range, size_t end_range) const;

  // Calls use(profile, key, value) for all values of some of the ranges, profile by profile. `key` is the
  // value identifier plus `ids` for each context since the first one of the ranges.
  template <typename Use>
  void for_each(const Read& all, size_t first_range, size_t end_range, Use use) const {
    const uint32_t first = first_context(first_range), end = first_context(end_range);
    for (uint32_t profile = 0; profile < written_.blocks.size(); ++profile) {
      const ValueBlock& block = written_.blocks[profile];
      const ValueBlock::Before from = before(block, first_range), to = before(block, end_range);
      if (from.contexts == to.contexts) continue;
      const ValueBlock::Before all_from = before(block, all.first_range),
                               all_to = before(block, all.end_range);
      const std::span bytes = std::span(all.bytes).subspan(all.begin[profile]);
      const std::span indices =
          bytes.subspan((from.contexts - all_from.contexts) * format::kContextIndexBytes,
                        (to.contexts - from.contexts) * format::kContextIndexBytes);
      const std::span values =
          bytes.subspan((all_to.contexts - all_from.contexts) * format::kContextIndexBytes +
                            (from.values - all_from.values) * format::kProfileValueBytes,
                        (to.values - from.values) * format::kProfileValueBytes);
      for (size_t at = 0; at < indices.size(); at += format::kContextIndexBytes) {
        const auto context = load<uint32_t>(&indices[at]);
        const size_t next = at + format::kContextIndexBytes;
        const uint64_t stop =
            next < indices.size() ? load<uint64_t>(&indices[next + sizeof context]) : to.values;
        const auto start = load<uint64_t>(&indices[at + sizeof context]);
        require(context >= first && context < end && start >= from.values && stop <= to.values);
        for (uint64_t i = start; i < stop; ++i) {
          const char* const value = &values[(i - from.values) * format::kProfileValueBytes];
          const auto id = load<uint16_t>(value);
          require(id < ids_);
          use(profile, (context - first) * ids_ + id, load<double>(value + sizeof id));
        }
      }
    }
  }

 private:
  static ValueBlock::Before before(const ValueBlock& block, size_t range) {
    if (range == 0) return {0, 0};
    return range <= block.cuts.size() ? block.cuts[range - 1]
                                      : ValueBlock::Before{block.context_count, block.value_count};
  }

  template <typename T>
  static T load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }

  uint32_t first_context(size_t range) const;
  void read(uint64_t offset, size_t bytes, char* out) const;
  void require(bool holds) const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  int descriptor_;
  const Database& database_;
  const WrittenProfiles& written_;
  uint32_t ids_;
};

// Returns the first context of a range, as an identifier; past the last range, the end of identifiers.
uint32_t first_context(const Database& database, const WrittenProfiles& written, size_t range);

}  // namespace prof

#pragma once
// Values of a database on disk that are read on demand. Several threads may read at once. Everything is
// validated when it is read; all functions throw DatabaseError if the file is damaged or changes.

#include <memory>
#include <span>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

class ProfileFile;

class StoredValues {
 public:
  explicit StoredValues(std::unique_ptr<const ProfileFile> file);
  ~StoredValues();

  // The sizes of the database that was read.
  size_t metrics() const;
  size_t contexts() const;

  // Reads the values of all profiles, and keeps none. Afterwards, reading fails only if the file changes.
  void check_profiles() const;

  // Reads what Profile::values holds, restricted to one metric unless `only_metric` is kNone.
  void read_profile(uint32_t profile, uint32_t only_metric, std::vector<ProfileValue>& values) const;

  // Returns sums over all profiles, by context: one column for each metric, in one pass over the file.
  std::vector<std::vector<Cost>> costs(std::span<const uint32_t> metrics) const;
  std::vector<Values> sums(uint32_t metric) const;
  // The inclusive costs of contexts without a parent: those that have any, sorted by context.
  struct RootCost {
    uint32_t context;
    double inclusive;
  };
  const std::vector<RootCost>& root_costs(uint32_t metric) const { return root_costs_[metric]; }

 private:
  const std::unique_ptr<const ProfileFile> file_;
  std::vector<std::vector<RootCost>> root_costs_;  // by metric
};

// True if the file has the sums over profiles for everything that the model keeps.
bool has_all_sums(const ProfileFile& file);

// Returns the values of a profile, sorted by (context, metric), from memory or from the file. If a metric is
// given, values of others may be missing. Valid until the database or the buffer changes.
std::span<const ProfileValue> values_of(const Database& database, uint32_t profile,
                                        std::vector<ProfileValue>& buffer, uint32_t only_metric = kNone);

}  // namespace prof

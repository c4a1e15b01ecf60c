#pragma once
// Values of a database on disk that are read when they are asked for. Several threads may ask at once.
// Whatever is read is checked first: everything here throws DatabaseError where the file is damaged or
// changes.

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

  // Of the database that was read.
  size_t metrics() const;
  size_t contexts() const;

  // Reads the values of all profiles, and keeps none: afterwards only a file that changes makes reading fail.
  void check_profiles() const;

  // What Profile::values would be; of one metric, where one is given.
  void read_profile(uint32_t profile, uint32_t only_metric, std::vector<ProfileValue>& values) const;

  // Sums over all profiles, by context: a column for each of these metrics, all in one pass over the file.
  std::vector<std::vector<Cost>> costs(std::span<const uint32_t> metrics) const;
  std::vector<Values> sums(uint32_t metric) const;
  // Inclusive ones of the contexts that have no parent: those that are there, by context.
  struct RootCost {
    uint32_t context;
    double inclusive;
  };
  const std::vector<RootCost>& root_costs(uint32_t metric) const { return root_costs_[metric]; }

 private:
  const std::unique_ptr<const ProfileFile> file_;
  std::vector<std::vector<RootCost>> root_costs_;  // by metric
};

// Whether a file has the sums over profiles of all that the model keeps.
bool has_all_sums(const ProfileFile& file);

// The values of a profile, sorted by (context, metric), wherever they are. Where a metric is given, those of
// others may be missing. Valid as long as the database and the buffer are as they are.
std::span<const ProfileValue> values_of(const Database& database, uint32_t profile,
                                        std::vector<ProfileValue>& buffer, uint32_t only_metric = kNone);

}  // namespace prof

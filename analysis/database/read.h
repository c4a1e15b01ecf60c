#pragma once
// The parts of the database reader, in the order in which read_database() calls them.

#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/format.h"
#include "analysis/database/input.h"
#include "analysis/database/model.h"

namespace prof {

// Maps identifiers in the files to contexts of the model.
class ContextIds {
 public:
  // ids[i] is the identifier of the model's context i. Returns false if two are equal or one is the global
  // context's.
  bool assign(const std::vector<uint32_t>& ids);
  // Returns the contexts by ascending identifier.
  std::vector<uint32_t> order() const;
  // Returns kNone if no context has the identifier.
  uint32_t find(uint32_t id) const;

 private:
  std::vector<uint32_t> dense_;  // [id]; used if there are about as many identifiers as contexts
  std::vector<std::pair<uint32_t, uint32_t>> sorted_;  // otherwise
};

struct PropagatedId {
  bool listed = false;
  uint32_t metric = 0;
  double Values::*scope = nullptr;  // nullptr for a scope that the model does not keep
};

struct StatisticId {
  bool listed = false;
  bool is_count = false;
  uint32_t metric = 0;
  double Values::*scope = nullptr;
  Values Summary::*statistic = nullptr;  // nullptr for the count, or if the model does not keep it
};

// Values by 16-bit identifier, few of which are listed. All others are default-constructed.
template <typename Id>
class Identifiers {
 public:
  Id& made(uint16_t id) {
    if (id >= ids_.size()) ids_.resize(size_t{id} + 1);
    return ids_[id];
  }
  const Id& operator[](uint16_t id) const { return id < ids_.size() ? ids_[id] : unlisted_; }
  // Returns the largest listed identifier plus one.
  size_t size() const { return ids_.size(); }
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }

 private:
  std::vector<Id> ids_;
  Id unlisted_;
};

struct MetaIndex {
  ContextIds contexts;
  Identifiers<PropagatedId> propagated;
  Identifiers<StatisticId> statistics;
  std::vector<std::string> identifier_names;  // by kind
};

// Reads title, description, modules, files, functions, contexts and metrics from meta.db.
void read_meta(const std::filesystem::path& directory, Database& database, MetaIndex& index);

class ProfileFile;

// Reads the values of profile.db into existing profiles, and into summaries.
void read_values(const ProfileFile& file, Database& database);

// Reads traces from trace.db, if it exists.
void read_traces(const std::filesystem::path& directory, const MetaIndex& index,
                 const std::vector<uint32_t>& profile_indices, Database& database);

// Reads task_names, launches, wait_names and device_waits from launches.sqlite, if it exists.
void read_launches(const std::filesystem::path& directory, Database& database);

// Reads Database::run, descriptions of metrics and identities of profiles from run.json, if it exists.
void read_run(const std::filesystem::path& directory, Database& database);

}  // namespace prof

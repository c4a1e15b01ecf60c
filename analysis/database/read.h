#pragma once
// The parts of the database reader; read_database() calls them in this order.

#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/format.h"
#include "analysis/database/input.h"
#include "analysis/database/model.h"

namespace prof {

// Identifiers in the files, resolved to the model.
class ContextIds {
 public:
  // ids[i] is the identifier of model context i. False when two are equal or one is the global context's.
  bool assign(const std::vector<uint32_t>& ids);
  // The contexts by rising identifier.
  std::vector<uint32_t> order() const;
  // kNone when no context has the identifier.
  uint32_t find(uint32_t id) const;

 private:
  std::vector<uint32_t> dense_;  // [id], where identifiers are about as many as contexts
  std::vector<std::pair<uint32_t, uint32_t>> sorted_;  // otherwise
};

struct PropagatedId {
  bool listed = false;
  uint32_t metric = 0;
  double Values::*scope = nullptr;  // nullptr: a scope that the model does not keep
};

struct StatisticId {
  bool listed = false;
  bool is_count = false;
  uint32_t metric = 0;
  double Values::*scope = nullptr;
  Values Summary::*statistic = nullptr;  // nullptr: the count, or a statistic that the model does not keep
};

// By identifiers of 16 bits, of which few are listed: all others are as made.
template <typename Id>
class Identifiers {
 public:
  Id& made(uint16_t id) {
    if (id >= ids_.size()) ids_.resize(size_t{id} + 1);
    return ids_[id];
  }
  const Id& operator[](uint16_t id) const { return id < ids_.size() ? ids_[id] : unlisted_; }
  // One more than the largest that is listed.
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

// meta.db into title, description, modules, files, functions, contexts and metrics.
void read_meta(const std::filesystem::path& directory, Database& database, MetaIndex& index);

class ProfileFile;

// The values of profile.db into profiles, which are there, and summaries.
void read_values(const ProfileFile& file, Database& database);

// trace.db into traces, if there is one.
void read_traces(const std::filesystem::path& directory, const MetaIndex& index,
                 const std::vector<uint32_t>& profile_indices, Database& database);

// launches.sqlite into task_names, launches, wait_names and device_waits, if there is one.
void read_launches(const std::filesystem::path& directory, Database& database);

// run.json into Database::run, descriptions of metrics and identities of profiles, if there is one.
void read_run(const std::filesystem::path& directory, Database& database);

}  // namespace prof

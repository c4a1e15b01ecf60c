// profile.db: values by profile, then context, then metric; profile 0 holds the statistics over all profiles.

#include <map>

#include "analysis/database/output.h"
#include "analysis/database/statistics.h"
#include "analysis/database/summaries.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

// Header of one profile's block of values.
struct ValueBlock {
  uint64_t value_count = 0, values = 0;
  uint32_t context_count = 0;
  uint64_t indices = 0;
};

// Appends values to a file and remembers where each context's begin.
class BlockWriter {
 public:
  explicit BlockWriter(OutputFile& file) : file_(file) {}

  void begin() {
    file_.align(8);
    block_ = {.values = file_.offset()};
    indices_.clear();
  }
  void context(uint32_t id) {
    if (block_.context_count > 0 && last_start_ == block_.value_count) return reuse_index(id);
    last_start_ = block_.value_count;
    ++block_.context_count;
    indices_.put(id);
    indices_.put(block_.value_count);
  }
  void value(uint16_t id, double value) {
    ++block_.value_count;
    file_.buffer().put(id);
    file_.buffer().put(value);
  }
  void flush_if_full() { file_.flush_if_full(); }
  ValueBlock end() {
    if (block_.context_count > 0 && last_start_ == block_.value_count) {  // the last context had no values
      --block_.context_count;
      indices_.drop(kContextIndexBytes);
    }
    file_.align(4);
    block_.indices = file_.offset();
    file_.write(indices_.view());
    return block_;
  }

 private:
  // The context before had no values: its place in the index is free.
  void reuse_index(uint32_t id) { indices_.patch(indices_.size() - kContextIndexBytes, id); }

  OutputFile& file_;
  ValueBlock block_;
  uint64_t last_start_ = 0;
  OutputBuffer indices_;
};

// The global context: inclusive cost of all entry points, for one profile.
std::vector<double> global_costs(const Database& database, const Profile& profile) {
  std::vector<double> costs(database.metrics.size());
  for (const ProfileValue& value : profile.values) {
    if (database.contexts[value.context].parent == kNone) costs[value.metric] += value.values.inclusive;
  }
  return costs;
}

std::vector<Summary> global_summaries(const Database& database) {
  Database global;  // one context, in which the profiles have the cost of all entry points
  global.contexts.resize(1);
  global.metrics = database.metrics;
  for (const Profile& profile : database.profiles) {
    const std::vector<double> costs = global_costs(database, profile);
    Profile& copy = global.profiles.emplace_back();
    for (uint32_t metric = 0; metric < costs.size(); ++metric) {
      if (costs[metric] != 0) copy.values.push_back({0, metric, {.inclusive = costs[metric]}});
    }
  }
  return summarize(global);
}

void put_summary(BlockWriter& block, uint32_t metric, const Summary& summary, double lex_aware_sum) {
  if (summary.profiles == 0) return;
  for (size_t i = 0; i < kStatisticSpecs.size(); ++i) {
    const StatisticSpec& spec = kStatisticSpecs[i];
    const auto scope = value_of(spec.scope);
    const double value = spec.statistic == nullptr ? summary.profiles
                         : scope == nullptr        ? lex_aware_sum
                                                   : summary.*spec.statistic.*scope;
    // A count or squares without their sum would be taken for the sum (see kStatisticSpecs).
    const bool is_needed_sum = spec.statistic == &Summary::sum && scope != nullptr &&
                               (scope == &Values::inclusive || summary.sum_of_squares.*scope != 0);
    if (value != 0 || is_needed_sum) block.value(statistic_id(metric, i), value);
  }
}

ValueBlock write_summary_profile(const Database& database, const std::vector<Summary>& summaries,
                                 const LexAware& lex_aware, BlockWriter& block) {
  block.begin();
  block.context(kGlobalContext);
  const std::vector<Summary> global = global_summaries(database);
  for (uint32_t metric = 0; metric < global.size(); ++metric) put_summary(block, metric, global[metric], 0);
  const size_t contexts = database.contexts.size();
  for (uint32_t context = 0; context < contexts; ++context) {
    block.context(context_id(context));
    for (uint32_t metric = 0; metric < database.metrics.size(); ++metric) {
      const Summary& summary = summaries[metric * contexts + context];
      put_summary(block, metric, summary, lex_aware.sum(metric, context, summary));
    }
    block.flush_if_full();
  }
  return block.end();
}

ValueBlock write_profile(const Database& database, size_t index, const LexAware& lex_aware,
                         BlockWriter& block) {
  const Profile& profile = database.profiles[index];
  block.begin();
  block.context(kGlobalContext);
  const std::vector<double> global = global_costs(database, profile);
  for (uint32_t metric = 0; metric < global.size(); ++metric) {
    if (global[metric] != 0) block.value(propagated_id(metric, Scope::Execution), global[metric]);
  }
  uint32_t context = kNone;
  for (size_t i = 0; i < profile.values.size(); ++i) {
    const ProfileValue& value = profile.values[i];
    if (value.context != context) {
      context = value.context;
      block.context(context_id(context));
      block.flush_if_full();
    }
    const auto put = [&](Scope scope, double cost) {
      if (cost != 0) block.value(propagated_id(value.metric, scope), cost);
    };
    put(Scope::Point, value.values.point);
    put(Scope::Function, value.values.exclusive);
    put(Scope::LexAware, lex_aware.value(index, i));
    put(Scope::Execution, value.values.inclusive);
  }
  return block.end();
}

// The format identifies a node by a number; the name itself is in run.json.
uint32_t host_id(std::string_view host) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : host) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

class IdentifierTuples {
 public:
  // Returns the tuple's offset in bytes().
  uint64_t add(const ProfileId& id) {
    const uint64_t offset = bytes_.size();
    const size_t count_at = bytes_.size();
    uint16_t count = 0;
    bytes_.put_zeros(8);
    const auto put = [&](IdentifierKind kind, uint16_t flags, uint32_t logical, uint64_t physical) {
      bytes_.put<uint8_t>(kind);
      bytes_.put<uint8_t>(0);
      bytes_.put(flags);
      bytes_.put(logical);
      bytes_.put(physical);
      ++count;
    };
    const auto put_logical = [&](IdentifierKind kind, int32_t value) {
      if (value >= 0) put(kind, 0, static_cast<uint32_t>(value), static_cast<uint64_t>(value));
    };
    if (!id.host.empty()) {
      const auto node = nodes_.try_emplace(id.host, static_cast<uint32_t>(nodes_.size())).first;
      put(Node, kPhysicalIdentifier, node->second, host_id(id.host));
    }
    put_logical(Rank, id.rank);
    put_logical(Process, id.process);
    put_logical(Thread, id.thread);
    put_logical(GpuDevice, id.device);
    put_logical(GpuStream, id.queue);
    bytes_.patch(count_at, count);
    return offset;
  }
  std::string_view bytes() const { return bytes_.view(); }

 private:
  OutputBuffer bytes_;
  std::map<std::string, uint32_t> nodes_;
};

void put_profile_info(OutputBuffer& out, const ValueBlock& block, uint64_t tuple, uint32_t flags) {
  out.put(block.value_count);
  out.put(block.values);
  out.put(block.context_count);
  out.align(8);
  out.put(block.indices);
  out.put(tuple);
  out.put(flags);
  out.align(8);
}

}  // namespace

void write_profiles(const Database& database, const std::vector<Summary>& summaries,
                    const LexAware& lex_aware, const std::filesystem::path& directory) {
  OutputFile file(directory, kProfile);
  BlockWriter block(file);
  std::vector<ValueBlock> blocks;
  blocks.push_back(write_summary_profile(database, summaries, lex_aware, block));
  for (size_t i = 0; i < database.profiles.size(); ++i)
    blocks.push_back(write_profile(database, i, lex_aware, block));

  file.align(8);
  const uint64_t tuples_begin = file.offset();
  IdentifierTuples tuples;
  std::vector<uint64_t> tuple_offsets;
  for (const Profile& profile : database.profiles)
    tuple_offsets.push_back(tuples_begin + tuples.add(profile.id));
  file.write(tuples.bytes());
  file.end_section(1, tuples_begin);

  file.align(8);
  const uint64_t infos_begin = file.offset();
  OutputBuffer infos;
  infos.put<uint64_t>(infos_begin + 16);
  infos.put(static_cast<uint32_t>(blocks.size()));
  infos.put<uint8_t>(kProfileInfoBytes);
  infos.align(8);
  put_profile_info(infos, blocks[0], 0, kSummaryProfile);
  for (size_t i = 1; i < blocks.size(); ++i) put_profile_info(infos, blocks[i], tuple_offsets[i - 1], 0);
  file.write(infos.view());
  file.end_section(0, infos_begin);
  file.finish();
}

}  // namespace prof

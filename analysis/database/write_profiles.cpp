// profile.db: values by profile, then context, then metric. Profile 0 holds the statistics over all profiles.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/database/identifier_tuples.h"
#include "analysis/database/lex_aware.h"
#include "analysis/database/output.h"
#include "analysis/database/parallel_for.h"
#include "analysis/database/pieced_file.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

constexpr uint64_t kMaxCuts = 8'000'000;  // of all profiles, 16 bytes each
constexpr size_t kMaxRanges = 256;
constexpr size_t kMaxGroups = 256;  // of profiles that are computed together

void move(ValueBlock& block, uint64_t by) {
  block.values += by;
  block.indices += by;
}

// An OutputBuffer with the interface of OutputFile.
class Piece {
 public:
  uint64_t offset() const { return buffer_.size(); }
  void align(size_t alignment) { buffer_.align(alignment); }
  OutputBuffer& buffer() { return buffer_; }
  void flush_if_full() {}
  void write(std::string_view bytes) { buffer_.append(bytes); }

 private:
  OutputBuffer buffer_;
};

// Appends values to a file or to a part of one, and records where each context's values start.
template <typename Output>
class BlockWriter {
 public:
  BlockWriter(Output& output, const std::vector<uint32_t>& cuts) : output_(output), cuts_(cuts) {}

  void begin() {
    output_.align(8);
    block_ = {};
    block_.values = output_.offset();
    indices_.clear();
  }
  void context(uint32_t id) {
    cut_before(id);
    if (is_last_empty()) return reuse_index(id);
    last_start_ = block_.value_count;
    ++block_.context_count;
    indices_.put(id);
    indices_.put(block_.value_count);
  }
  void value(uint16_t id, double value) {
    ++block_.value_count;
    output_.buffer().put(id);
    output_.buffer().put(value);
  }
  void flush_if_full() { output_.flush_if_full(); }
  ValueBlock end() {
    cut_before(kNone);
    if (is_last_empty()) {
      --block_.context_count;
      indices_.drop(kContextIndexBytes);
    }
    output_.align(4);
    block_.indices = output_.offset();
    output_.write(indices_.view());
    return std::move(block_);
  }

 private:
  bool is_last_empty() const { return block_.context_count > 0 && last_start_ == block_.value_count; }
  // The previous context had no values, so its place in the index is free.
  void reuse_index(uint32_t id) { indices_.patch(indices_.size() - kContextIndexBytes, id); }
  void cut_before(uint32_t id) {
    while (block_.cuts.size() < cuts_.size() && cuts_[block_.cuts.size()] <= id)
      block_.cuts.push_back({block_.context_count - (is_last_empty() ? 1 : 0), block_.value_count});
  }

  Output& output_;
  const std::vector<uint32_t>& cuts_;
  ValueBlock block_;
  uint64_t last_start_ = 0;
  OutputBuffer indices_;
};

// Returns the values of the global context for one profile: the inclusive cost of all entry points.
std::vector<double> global_costs(const Database& database, const std::vector<ProfileValue>& values) {
  std::vector<double> costs(database.metrics.size());
  for (const ProfileValue& value : values)
    if (database.contexts[value.context].parent == kNone) costs[value.metric] += value.values.inclusive;
  return costs;
}

void put_summary(BlockWriter<OutputFile>& block, uint32_t metric, const Summary& summary,
                 double lex_aware_sum) {
  if (summary.profiles == 0) return;
  for (size_t i = 0; i < kStatisticSpecs.size(); ++i) {
    const StatisticSpec& spec = kStatisticSpecs[i];
    const auto scope = value_of(spec.scope);
    const double value = spec.statistic == nullptr ? summary.profiles
                         : scope == nullptr        ? lex_aware_sum
                                                   : summary.*spec.statistic.*scope;
    // A count or sum of squares without its sum would be mistaken for the sum (see kStatisticSpecs).
    const bool is_needed_sum = spec.statistic == &Summary::sum && scope != nullptr &&
                               (scope == &Values::inclusive || summary.sum_of_squares.*scope != 0);
    if (value != 0 || is_needed_sum) block.value(statistic_id(metric, i), value);
  }
}

// Hatchet looks up the inclusive sum of the main thread, which may have no samples.
bool needs_sum(const Context& context) {
  return context.kind == ContextKind::Entry && context.entry == kEntries[kMainThreadEntry].name;
}

// `global`: the summaries of the global context, by metric.
ValueBlock write_summary_profile(const Database& database, const std::vector<Summary>& summaries,
                                 const std::vector<Summary>& global, const LexAware& lex_aware,
                                 OutputFile& file) {
  const std::vector<uint32_t> no_cuts;
  BlockWriter block(file, no_cuts);
  block.begin();
  block.context(kGlobalContext);
  for (uint32_t metric = 0; metric < global.size(); ++metric) put_summary(block, metric, global[metric], 0);
  const size_t contexts = database.contexts.size();
  for (uint32_t context = 0; context < contexts; ++context) {
    block.context(context_id(context));
    for (uint32_t metric = 0; metric < database.metrics.size(); ++metric) {
      const Summary& summary = summaries[metric * contexts + context];
      put_summary(block, metric, summary, lex_aware.sum(metric, context, summary));
      if (summary.profiles == 0 && needs_sum(database.contexts[context]))
        block.value(statistic_id(metric, kStatisticSpecs.size() - 1), 0);
    }
    block.flush_if_full();
  }
  return block.end();
}

// `lex_aware`: the lex_aware cost of each value; may be empty.
ValueBlock write_profile(const std::vector<ProfileValue>& values, const std::vector<double>& global,
                         const std::vector<double>& lex_aware, BlockWriter<Piece>& block) {
  block.begin();
  block.context(kGlobalContext);
  for (uint32_t metric = 0; metric < global.size(); ++metric) {
    if (global[metric] != 0) block.value(propagated_id(metric, Scope::Execution), global[metric]);
  }
  uint32_t context = kNone;
  for (size_t i = 0; i < values.size(); ++i) {
    const ProfileValue& value = values[i];
    if (value.context != context) {
      context = value.context;
      block.context(context_id(context));
    }
    const auto put = [&](Scope scope, double cost) {
      if (cost != 0) block.value(propagated_id(value.metric, scope), cost);
    };
    put(Scope::Point, value.values.point);
    put(Scope::Function, value.values.exclusive);
    put(Scope::LexAware, lex_aware.empty() ? value.values.exclusive : lex_aware[i]);
    put(Scope::Execution, value.values.inclusive);
  }
  return block.end();
}

// Consecutive profiles, as they will lie in the file.
struct Group {
  Piece bytes;
  std::vector<ValueBlock> blocks;  // relative to the start of bytes
  // Filled only if there are loops.
  std::vector<std::vector<ProfileValue>> values;
  std::vector<std::vector<double>> lex_aware;
};

// The groups that a process has written.
struct Share {
  std::vector<uint64_t> sizes;                  // of each group
  std::vector<std::vector<ValueBlock>> blocks;  // of each group, relative to its start
};

template <typename Archive>
void fields(Archive& archive, Share& share) {
  archive(share.sizes, share.blocks);
}

// Writes profiles in groups of pieces (ProfileValues); each worker writes some of them.
class ProfilesWriter {
 public:
  ProfilesWriter(const Database& database, const std::vector<uint32_t>& cuts, LexAware& lex_aware,
                 const Writers& writers)
      : database_(database), cuts_(cuts), lex_aware_(lex_aware), writers_(writers) {
    find_groups();
  }

  Turns turns() const { return {groups_.size() - 1, 1, writers_.workers.size()}; }

  Share write(const std::filesystem::path& directory) {
    PiecedFile file(directory, kProfile, writers_.workers, turns());
    const std::vector<size_t> own = turns().of(writers_.workers.rank());
    Share share;
    Stage stage(writers_.progress, "writing values", own.size());
    make_in_order(
        own.size(), writers_.jobs, [&](size_t i) { return make(own[i]); },
        [&](size_t, Group&& group) {
          for (size_t i = 0; i < group.values.size(); ++i)
            lex_aware_.add(group.values[i], group.lex_aware[i]);
          share.blocks.push_back(std::move(group.blocks));
          file.put(std::move(group.bytes.buffer()));
          stage.add();
        });
    file.close();
    share.sizes = file.sizes();
    return share;
  }

  // Validates what another process reports about its groups.
  void require(const Share& share, int rank) const {
    const std::vector<size_t> groups = turns().of(rank);
    Unpacker::require(share.sizes.size() == groups.size() && share.blocks.size() == groups.size(),
                      "it is of other profiles");
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t profiles = first_profile(groups_[groups[i] + 1]) - first_profile(groups_[groups[i]]);
      Unpacker::require(share.blocks[i].size() == profiles, "it is of other profiles");
      require_blocks(share.blocks[i], share.sizes[i]);
    }
  }

 private:
  size_t first_profile(size_t piece) const {
    return database_.values.compute ? database_.values.first[piece] : piece;
  }

  // Combines pieces into groups with enough profiles.
  void find_groups() {
    const size_t pieces =
        database_.values.compute ? database_.values.first.size() - 1 : database_.profiles.size();
    const size_t enough = database_.profiles.size() / kMaxGroups + 1;
    groups_.push_back(0);
    for (size_t piece = 1; piece <= pieces; ++piece)
      if (piece == pieces || first_profile(piece) - first_profile(groups_.back()) >= enough)
        groups_.push_back(piece);
  }

  void require_blocks(const std::vector<ValueBlock>& blocks, uint64_t bytes) const {
    constexpr char kBeyond[] = "it names values beyond those that it has";
    const auto fits = [&](uint64_t offset, uint64_t count, uint64_t each) {
      return offset <= bytes && count <= (bytes - offset) / each;
    };
    for (const ValueBlock& block : blocks) {
      Unpacker::require(fits(block.values, block.value_count, kProfileValueBytes) &&
                            fits(block.indices, block.context_count, kContextIndexBytes) &&
                            block.cuts.size() == cuts_.size(),
                        kBeyond);
      ValueBlock::Before before{0, 0};
      for (const ValueBlock::Before& cut : block.cuts) {
        Unpacker::require(cut.contexts >= before.contexts && cut.values >= before.values, kBeyond);
        before = cut;
      }
      Unpacker::require(before.contexts <= block.context_count && before.values <= block.value_count,
                        kBeyond);
    }
  }

  Group make(size_t index) {
    Group group;
    BlockWriter block(group.bytes, cuts_);
    for (size_t piece = groups_[index]; piece < groups_[index + 1]; ++piece) {
      std::vector<std::vector<ProfileValue>> computed;
      if (database_.values.compute) computed = database_.values.compute(database_, piece);
      for (size_t p = first_profile(piece); p < first_profile(piece + 1); ++p) {
        const std::vector<ProfileValue>& values =
            computed.empty() ? database_.profiles[p].values : computed[p - first_profile(piece)];
        validate_values(database_, p, values);
        std::vector<double> lex_aware = lex_aware_.of(values);
        group.blocks.push_back(write_profile(values, global_costs(database_, values), lex_aware, block));
        if (lex_aware.empty()) continue;
        group.values.push_back(values);
        group.lex_aware.push_back(std::move(lex_aware));
      }
    }
    group.bytes.align(8);
    return group;
  }

  const Database& database_;
  const std::vector<uint32_t>& cuts_;
  LexAware& lex_aware_;
  const Writers& writers_;
  std::vector<size_t> groups_;  // the first piece of each, and the end of the last
};

std::vector<uint32_t> find_cuts(const Database& database) {
  const size_t profiles = std::max<size_t>(database.profiles.size(), 1);
  const size_t ids = database.contexts.size() + 1;
  const size_t ranges = std::min({kMaxRanges, std::max<size_t>(kMaxCuts / profiles, 1), ids});
  std::vector<uint32_t> cuts;
  for (size_t i = 1; i < ranges; ++i) cuts.push_back(static_cast<uint32_t>(i * ids / ranges));
  return cuts;
}

std::vector<uint64_t> count_values(const WrittenProfiles& written) {
  std::vector<uint64_t> counts(written.cuts.size() + 1);
  for (const ValueBlock& block : written.blocks) {
    uint64_t before = 0;
    for (size_t i = 0; i < block.cuts.size(); ++i) {
      counts[i] += block.cuts[i].values - before;
      before = block.cuts[i].values;
    }
    counts.back() += block.value_count - before;
  }
  return counts;
}

// Combines the shares in the order of the profiles.
void put_together(std::vector<Share>& shares, const Turns& turns, WrittenProfiles& written) {
  std::vector<std::vector<uint64_t>> sizes;
  for (const Share& share : shares) sizes.push_back(share.sizes);
  const std::vector<uint64_t> places = turns.places(sizes, PiecedFile::first_place(kProfile));
  std::vector<size_t> passed(shares.size());
  for (size_t group = 0; group < turns.pieces; ++group) {
    const auto by = static_cast<size_t>(turns.owner(group));
    for (ValueBlock& block : shares[by].blocks[passed[by]++]) {
      move(block, places[group]);
      written.blocks.push_back(std::move(block));
    }
  }
  written.end = places.back();
}

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

WrittenProfiles write_profiles(const Database& database, const std::filesystem::path& directory,
                               const Writers& writers) {
  AnalysisWorkers& workers = writers.workers;
  WrittenProfiles written;
  written.cuts = find_cuts(database);
  written.lex_aware = std::make_unique<LexAware>(database);
  ProfilesWriter writer(database, written.cuts, *written.lex_aware, writers);
  std::vector<Share> shares(static_cast<size_t>(workers.size()));
  Share& own = shares[static_cast<size_t>(workers.rank())];
  workers.share(
      "values", [&] { own = writer.write(directory); }, [&](Packer& out) { out(own); },
      [&](Unpacker& in, int rank) {
        Share& share = shares[static_cast<size_t>(rank)];
        in(share);
        writer.require(share, rank);
      });
  put_together(shares, writer.turns(), written);
  written.value_counts = count_values(written);
  return written;
}

void finish_profiles(const Database& database, const WrittenProfiles& written,
                     const WrittenContexts& contexts, const std::filesystem::path& directory) {
  OutputFile file(directory, kProfile, written.end);
  const ValueBlock summary =
      write_summary_profile(database, database.summaries.empty() ? contexts.summaries : database.summaries,
                            contexts.global, *written.lex_aware, file);

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
  infos.put(static_cast<uint32_t>(written.blocks.size() + 1));
  infos.put<uint8_t>(kProfileInfoBytes);
  infos.align(8);
  put_profile_info(infos, summary, 0, kSummaryProfile);
  for (size_t i = 0; i < written.blocks.size(); ++i)
    put_profile_info(infos, written.blocks[i], tuple_offsets[i], 0);
  file.write(infos.view());
  file.end_section(0, infos_begin);
  file.finish();
}

}  // namespace prof

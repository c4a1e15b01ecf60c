#include "analysis/pipeline/merged_run.h"

#include <fmt/format.h>

#include <stdexcept>

#include "analysis/database/pool.h"
#include "analysis/pipeline/devices.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/traces.h"

namespace prof {

// Serialization for other processes (analysis/workers/packing.h).
template <typename Archive>
void fields(Archive& archive, Context& context) {
  auto& [parent, kind, relation, function, file, line, module, offset, entry] = context;
  archive(parent, kind, relation, function, file, line, module, offset, entry);
}

namespace {

// Returns the context of each node of a track. Parents come before their children. `entry` returns the root
// for main threads or for others, `extend` the context of a place that was called in another.
template <typename Entry, typename Extend>
std::vector<uint32_t> contexts_of_nodes(const ProcessMeasurement& measurement, const MeasuredThread& track,
                                        const Entry& entry, const Extend& extend) {
  std::vector<uint32_t> context_of(track.nodes.size());
  // Tasks of a device are placed below the call that launched them, in the tree of threads.
  const bool is_queue = track.kind == TrackKind::Queue;
  std::vector<bool> by_main;
  if (is_queue) by_main = launched_by_main_thread(measurement, track);
  context_of[0] = entry(is_queue || track.index == 0);
  for (uint32_t node = 1; node < track.nodes.size(); ++node) {
    const MeasuredNode& measured = track.nodes[node];
    const uint32_t parent =
        is_queue && measured.parent == 0 ? entry(by_main[node]) : context_of[measured.parent];
    context_of[node] = extend(parent, measured.frame);
  }
  return context_of;
}

// Validates contexts that another process has merged.
void require_contexts(const std::vector<Context>& contexts, const Database& database) {
  for (size_t i = 0; i < contexts.size(); ++i) {
    const Context& context = contexts[i];
    bool is_known = context.relation <= Relation::InlinedCall;
    if (context.kind == ContextKind::Entry)
      is_known &= context.parent == kNone;
    else if (context.kind == ContextKind::Function)
      is_known &= context.parent < i && context.function < database.functions.size();
    else
      is_known &=
          context.kind == ContextKind::Line && context.parent < i && context.file < database.files.size();
    Unpacker::require(is_known, "it is of other functions");
  }
}

constexpr uint64_t kMaxTraceRecords = uint64_t{1} << 40;

// Calls work() on a measurement. Reports an unknown frame as a file that changed since it was first read.
template <typename Work>
auto with_known_frames(const ProcessMeasurement& measurement, const Work& work) try {
  return work();
} catch (const std::out_of_range&) {
  throw AnalyzeError(
      AnalyzeError::Kind::AllUnusable,
      fmt::format("{}: was replaced while it was analyzed; analyze it again", measurement.file.string()));
}

// A tree that one thread of the analysis fills.
struct PartialTree {
  PartialTree(const PlaceTable& places, bool merge_recursion) : tree(places, contexts, merge_recursion) {}
  std::vector<Context> contexts;
  ContextTree tree;
  InstructionSums instructions;
};

}  // namespace

MergedRun::MergedRun(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options,
                     Database& database, std::vector<std::string>& warnings)
    : store_(
          directories, options, warnings,
          {[this](size_t file, const ProcessMeasurement& measurement) { places_.collect(file, measurement); },
           [this](Packer& out) { places_.give(out); }, [this](Unpacker& in) { places_.take(in); }}),
      tree_(places_.table(), database.contexts, options.merge_recursion) {
  places_.attribute(options, database, warnings);
  for (const ProcessMeasurement& outline : store_.outlines())
    columns_.push_back(merge_metrics(outline, database.metrics));
  for (uint32_t i = 0; i < store_.size(); ++i) {
    first_track_.push_back(static_cast<uint32_t>(tracks_.size()));
    const std::vector<MeasuredThread>& threads = store_.outlines()[i].threads;
    for (uint32_t t = 0; t < threads.size(); ++t)
      if (threads[t].kind != TrackKind::Device)
        tracks_.push_back({i, t});  // these have totals and no contexts
  }
  first_track_.push_back(static_cast<uint32_t>(tracks_.size()));
  std::vector<uint64_t> bytes;
  for (const ProcessMeasurement& outline : store_.outlines()) bytes.push_back(outline.file_bytes);
  AnalysisWorkers& workers = *options.workers;
  for (int rank = 0; rank < workers.size(); ++rank) shares_.push_back(share_of(bytes, rank, workers.size()));
  const std::pair<size_t, size_t> own = measurements_of(workers.rank());
  InstructionSums instructions;
  workers.share(
      "contexts", [&] { merge(options, own, instructions); },
      [&](Packer& out) {
        out(database.contexts);
        for (uint32_t l = first_track_[own.first]; l < first_track_[own.second]; ++l)
          out(tracks_[l].trace_records);
        instructions.give(out);
      },
      [&](Unpacker& in, int rank) {
        const auto contexts = in.get<std::vector<Context>>();
        require_contexts(contexts, database);
        tree_.add(contexts);
        const auto [begin, end] = measurements_of(rank);
        for (uint32_t l = first_track_[begin]; l < first_track_[end]; ++l) {
          in(tracks_[l].trace_records);
          Unpacker::require(tracks_[l].trace_records < kMaxTraceRecords,
                            "a trace exceeds the maximum length");
        }
        instructions.take(in, places_.table().size(), database.metrics.size());
      });
  database.instructions = instructions.costs(places_);
  tree_.sort();
}

void MergedRun::merge(const AnalyzeOptions& options, std::pair<size_t, size_t> share,
                      InstructionSums& instructions) {
  Pool<PartialTree> trees(
      [&] { return std::make_unique<PartialTree>(places_.table(), options.merge_recursion); });
  parallel_for(share.second - share.first, options, "merging call paths", [&](size_t piece) {
    const size_t i = share.first + piece;
    const Pool<PartialTree>::Borrowed partial(trees);
    ContextTree& tree = partial->tree;
    const std::shared_ptr<const ProcessMeasurement> measurement = store_.whole(i);
    const size_t file = store_.file_of(i);
    std::vector<PlaceId> place_of;  // of each node except the root
    for (uint32_t l = first_track_[i]; l < first_track_[i + 1]; ++l) {
      const MeasuredThread& track = measurement->threads[tracks_[l].thread];
      place_of.clear();
      with_known_frames(*measurement, [&] {
        contexts_of_nodes(
            *measurement, track, [&](bool main_thread) { return tree.entry(main_thread); },
            [&](uint32_t parent, uint64_t frame) {
              return tree.extend(parent, place_of.emplace_back(places_.place(file, frame)));
            });
      });
      if (track.kind == TrackKind::Thread) partial->instructions.add(track, columns_[i], place_of);
      if (track.trace_bytes != 0) tracks_[l].trace_records = trace_records(track, measurement->process);
    }
  });
  for (const std::unique_ptr<PartialTree>& partial : trees.all()) {
    tree_.add(partial->tree);
    instructions.add(partial->instructions);
  }
}

std::vector<uint32_t> MergedRun::contexts_of(size_t measurement, const ProcessMeasurement& whole,
                                             const MeasuredThread& thread) const {
  const size_t file = store_.file_of(measurement);
  return with_known_frames(whole, [&] {
    return contexts_of_nodes(
        whole, thread, [&](bool main_thread) { return tree_.known_entry(main_thread); },
        [&](uint32_t parent, uint64_t frame) {
          return tree_.known_extension(parent, places_.place(file, frame));
        });
  });
}

MergedRun::Process MergedRun::process(size_t measurement) const {
  Process process{store_.whole(measurement), first_track_[measurement], {}, {}};
  for (uint32_t l = first_track_[measurement]; l < first_track_[measurement + 1]; ++l) {
    process.tracks.push_back(&process.measurement->threads[tracks_[l].thread]);
    process.context_of.push_back(contexts_of(measurement, *process.measurement, *process.tracks.back()));
  }
  return process;
}

std::vector<ThreadInDatabase> MergedRun::Process::threads() const {
  std::vector<ThreadInDatabase> threads;
  for (uint32_t i = 0; i < tracks.size(); ++i)
    if (tracks[i]->kind == TrackKind::Thread) threads.push_back({tracks[i], first_track + i, context_of[i]});
  return threads;
}

}  // namespace prof

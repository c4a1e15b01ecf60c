#include "analysis/pipeline/pipeline.h"

#include <algorithm>

#include "analysis/database/summaries.h"
#include "analysis/pipeline/context_tree.h"
#include "analysis/pipeline/load.h"
#include "analysis/pipeline/metrics.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/places.h"
#include "analysis/pipeline/run_summary.h"
#include "analysis/pipeline/traces.h"

namespace prof {
namespace {

// A thread on its way into the database; all in the order of the database's profiles.
struct ThreadWork {
  const ProcessMeasurement* measurement;
  const MeasuredThread* thread;
  const std::vector<MetricColumn>* columns;
  std::vector<uint32_t> context_of;
};

Profile make_profile(const ThreadWork& work, std::span<const Context> contexts) {
  const MeasuredProcess& process = work.measurement->process;
  Profile profile;
  profile.id = {process.host, process.rank, process.pid, static_cast<int32_t>(work.thread->index),
                work.thread->name};
  profile.values = profile_values(*work.thread, *work.columns, work.context_of, contexts);
  for (const MeasuredCell& cell : work.thread->cells) profile.samples += cell.samples;
  return profile;
}

// The context of each node of a thread, whose root's is the thread's entry point. Parents come before their
// children.
std::vector<uint32_t> add_thread(ContextTree& tree, const Places& places, size_t measurement,
                                 const MeasuredThread& thread) {
  std::vector<uint32_t> context_of(thread.nodes.size());
  context_of[0] = tree.entry(thread.index == 0);
  for (uint32_t node = 1; node < thread.nodes.size(); ++node) {
    const MeasuredNode& measured = thread.nodes[node];
    context_of[node] = tree.extend(context_of[measured.parent], places.place(measurement, measured.frame));
  }
  return context_of;
}

std::vector<ThreadWork> merge_trees(const std::vector<ProcessMeasurement>& measurements,
                                    const std::vector<std::vector<MetricColumn>>& columns,
                                    const AnalyzeOptions& options, Analysis& analysis) {
  const Places places(measurements, options, analysis.database, analysis.warnings);
  ContextTree tree(places.table(), analysis.database.contexts, options.merge_recursion);
  std::vector<ThreadWork> work;
  for (size_t i = 0; i < measurements.size(); ++i) {
    for (const MeasuredThread& thread : measurements[i].threads) {
      work.push_back({&measurements[i], &thread, &columns[i], add_thread(tree, places, i, thread)});
    }
  }
  return work;
}

// A directory that was named twice counts once.
std::vector<std::filesystem::path> without_repeats(const std::vector<std::filesystem::path>& directories) {
  std::vector<std::filesystem::path> distinct;
  for (const std::filesystem::path& one : directories) {
    std::error_code missing;
    const auto same = [&](const std::filesystem::path& other) {
      return std::filesystem::equivalent(one, other, missing);
    };
    if (std::ranges::none_of(distinct, same)) distinct.push_back(one);
  }
  return distinct;
}

}  // namespace

Analysis analyze(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options) {
  const std::vector<std::filesystem::path> distinct = without_repeats(directories);
  Analysis analysis;
  Database& database = analysis.database;
  const std::vector<ProcessMeasurement> measurements =
      load_measurements(distinct, options, analysis.warnings);

  std::vector<std::vector<MetricColumn>> columns;
  columns.reserve(measurements.size());
  for (const ProcessMeasurement& measurement : measurements)
    columns.push_back(merge_metrics(measurement, database.metrics));
  std::vector<ThreadWork> work = merge_trees(measurements, columns, options, analysis);

  database.profiles.resize(work.size());
  parallel_for(work.size(), options, "adding up threads",
               [&](size_t i) { database.profiles[i] = make_profile(work[i], database.contexts); });
  database.summaries = summarize(database);

  if (std::ranges::any_of(work, [](const ThreadWork& one) { return one.thread->trace_bytes != 0; })) {
    for (ThreadWork& one : work) {
      database.traces.push_back(
          one.thread->trace_bytes == 0
              ? TraceSource{}
              : trace_source(*one.thread, std::move(one.context_of), one.measurement->process));
    }
  }
  std::vector<RunRecord> records;
  std::ranges::transform(distinct, std::back_inserter(records), read_run_record);
  database.title = program_name(measurements, records);
  database.run_json = run_json(measurements, records, analysis.warnings);
  return analysis;
}

}  // namespace prof

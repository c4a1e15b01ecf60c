#include "analysis/pipeline/pipeline.h"

#include <algorithm>
#include <map>

#include "analysis/database/summaries.h"
#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/context_tree.h"
#include "analysis/pipeline/devices.h"
#include "analysis/pipeline/load.h"
#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/metrics.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/places.h"
#include "analysis/pipeline/repairs.h"
#include "analysis/pipeline/run_summary.h"
#include "analysis/pipeline/traces.h"
#include "hpcrun/measurement/device_metrics.h"

namespace prof {
namespace {

// A thread, or the line of a device queue, on its way into the database; all in the order of the database's
// profiles.
struct ThreadWork {
  const ProcessMeasurement* measurement;
  const MeasuredThread* thread;
  const std::vector<MetricColumn>* columns;
  std::vector<uint32_t> context_of;
};

Profile make_profile(const ThreadWork& work, std::span<const Context> contexts) {
  const MeasuredProcess& process = work.measurement->process;
  Profile profile;
  if (work.thread->kind == LineKind::Queue) {
    profile.id = queue_id(*work.measurement, *work.thread);
    profile.values = profile_values(*work.thread, *work.columns, work.context_of, contexts);
    profile.samples = completed_tasks(*work.thread);
    return profile;
  }
  profile.id = {process.host, process.rank, process.pid, static_cast<int32_t>(work.thread->index),
                work.thread->name};
  profile.values = profile_values(*work.thread, *work.columns, work.context_of, contexts);
  for (const MeasuredCell& cell : work.thread->cells) profile.samples += cell.samples;
  return profile;
}

// As the next one; what a device executed is below the call that launched it, in the tree of threads.
std::vector<uint32_t> add_queue(ContextTree& tree, const Places& places, size_t index,
                                const ProcessMeasurement& measurement, const MeasuredThread& line) {
  const std::vector<bool> by_main = launched_by_main_thread(measurement, line);
  std::vector<uint32_t> context_of(line.nodes.size());
  context_of[0] = tree.entry(true);
  for (uint32_t node = 1; node < line.nodes.size(); ++node) {
    const MeasuredNode& measured = line.nodes[node];
    const uint32_t parent = measured.parent == 0 ? tree.entry(by_main[node]) : context_of[measured.parent];
    context_of[node] = tree.extend(parent, places.place(index, measured.frame));
  }
  return context_of;
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
      if (thread.kind == LineKind::Device) continue;  // has totals and no contexts
      work.push_back({&measurements[i], &thread, &columns[i],
                      thread.kind == LineKind::Queue ? add_queue(tree, places, i, measurements[i], thread)
                                                     : add_thread(tree, places, i, thread)});
    }
  }
  return work;
}

// Numbers contexts by the names of their functions.
class FunctionNames {
 public:
  FunctionNames(const Database& database, std::vector<std::string>& names)
      : database_(database), names_(names) {}

  std::vector<uint32_t> numbers(const std::vector<uint32_t>& contexts) {
    std::vector<uint32_t> numbers;
    for (const uint32_t context : contexts) {
      const std::string& name = name_of(context);
      const auto [at, added] = numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size()));
      if (added) names_.push_back(name);
      numbers.push_back(at->second);
    }
    return numbers;
  }

 private:
  const std::string& name_of(uint32_t context) const {
    static const std::string unknown;
    for (; context != kNone; context = database_.contexts[context].parent) {
      const Context& at = database_.contexts[context];
      if (at.kind == ContextKind::Function && at.function != kNone)
        return database_.functions[at.function].name;
      if (at.relation != Relation::Enclosing) break;
    }
    return unknown;
  }

  const Database& database_;
  std::vector<std::string>& names_;
  std::map<std::string, uint32_t> numbers_;
};

// Before traces take the contexts of nodes, as the next one.
void add_launches(const std::vector<ThreadWork>& work, Database& database) {
  FunctionNames names(database, database.task_names);
  std::vector<MeasuredLine<QueueLaunches>> queues;
  for (uint32_t i = 0; i < work.size(); ++i) {
    const ThreadWork& line = work[i];
    if (line.thread->kind != LineKind::Queue || line.thread->trace_bytes == 0) continue;
    QueueLaunches queue{i, names.numbers(line.context_of), {}};
    for (uint32_t j = 0; j < work.size(); ++j) {
      const MeasuredThread& thread = *work[j].thread;
      if (work[j].measurement != line.measurement || thread.kind != LineKind::Thread) continue;
      if (queue.profile_of_thread.size() <= thread.index)
        queue.profile_of_thread.resize(thread.index + size_t{1}, kNone);
      queue.profile_of_thread[thread.index] = j;
    }
    queues.push_back({std::move(queue), line.thread, &line.measurement->process});
  }
  if (!queues.empty()) database.launches = launch_source(std::move(queues));
}

void add_device_waits(const std::vector<ThreadWork>& work, Database& database) {
  FunctionNames names(database, database.wait_names);
  std::vector<MeasuredLine<ThreadWaits>> threads;
  for (uint32_t i = 0; i < work.size(); ++i) {
    const MeasuredThread& thread = *work[i].thread;
    if (thread.kind != LineKind::Thread || !thread.wait_extents || thread.wait_extents->empty()) continue;
    // Only of nodes at which the thread waited are names wanted.
    std::vector<uint32_t> context_of(work[i].context_of.size(), work[i].context_of[0]);
    for (const MeasuredCell& cell : thread.cells)
      if (cell.metric == static_cast<uint16_t>(hpcrun::DeviceMetric::CpuIdle))
        context_of[cell.node] = work[i].context_of[cell.node];
    threads.push_back({{i, names.numbers(context_of)}, &thread, &work[i].measurement->process});
  }
  if (!threads.empty()) database.device_waits = wait_source(std::move(threads));
}

TraceSource make_trace(ThreadWork& work) {
  if (work.thread->trace_bytes == 0) return {};
  const MeasuredProcess& process = work.measurement->process;
  return work.thread->kind == LineKind::Queue
             ? task_trace(*work.thread, std::move(work.context_of), process)
             : trace_source(*work.thread, std::move(work.context_of), process);
}

// All devices of all processes, with their queues.
std::vector<DeviceUse> used_devices(const std::vector<ProcessMeasurement>& measurements,
                                    const std::vector<ThreadWork>& work, const Database& database) {
  std::vector<DeviceUse> all;
  for (const ProcessMeasurement& measurement : measurements) {
    for (DeviceUse& use : device_uses(measurement)) {
      for (uint32_t i = 0; i < work.size(); ++i) {
        const ProfileId& id = database.profiles[i].id;
        if (work[i].measurement == &measurement && id.device == use.device)
          use.queues.push_back({i, id.thread_name});
      }
      all.push_back(std::move(use));
    }
  }
  return all;
}

std::vector<ThreadInDatabase> threads_of(const ProcessMeasurement& measurement,
                                         const std::vector<ThreadWork>& work) {
  std::vector<ThreadInDatabase> threads;
  for (uint32_t i = 0; i < work.size(); ++i)
    if (work[i].measurement == &measurement && work[i].thread->kind == LineKind::Thread)
      threads.push_back({work[i].thread, i, work[i].context_of});
  return threads;
}

// Of all processes.
std::vector<ContendedRecord> contended_data(const std::vector<ProcessMeasurement>& measurements,
                                            const std::vector<ThreadWork>& work,
                                            const AnalyzeOptions& options,
                                            std::vector<std::string>& warnings) {
  std::vector<ContendedRecord> all;
  for (const ProcessMeasurement& measurement : measurements) {
    if (!has_accesses(measurement)) continue;
    const std::vector<ThreadInDatabase> threads = threads_of(measurement, work);
    for (ContendedRecord& record : contended_records(measurement, threads, options.attribution, warnings))
      all.push_back(std::move(record));
  }
  std::ranges::stable_sort(all, std::greater(), [](const ContendedRecord& record) {
    return std::pair(record.weight_s, record.interleaved);
  });
  return all;
}

// Of all processes, the longest waited for first.
LocksRecord followed_locks(const std::vector<ProcessMeasurement>& measurements,
                           const std::vector<ThreadWork>& work, const AnalyzeOptions& options,
                           std::vector<std::string>& warnings) {
  LocksRecord all;
  for (const ProcessMeasurement& measurement : measurements) {
    if (!has_lock_waits(measurement)) continue;
    const std::vector<ThreadInDatabase> threads = threads_of(measurement, work);
    add_locks(measurement, threads, options.attribution, all, warnings);
  }
  sort_locks(all);
  return all;
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

  analysis.contention = contended_data(measurements, work, options, analysis.warnings);
  RunRepairs repairs;
  for (const ProcessMeasurement& measurement : measurements)
    repairs.add(measurement, threads_of(measurement, work));
  RepairsRecord repaired = repairs.take();
  analysis.placed = repairs.placed();
  tell_repairs(repaired, analysis.contention);
  const LocksRecord locks = followed_locks(measurements, work, options, analysis.warnings);
  if (std::ranges::any_of(work, [](const ThreadWork& one) { return one.thread->trace_bytes != 0; })) {
    add_launches(work, database);
    add_device_waits(work, database);
    for (ThreadWork& one : work) database.traces.push_back(make_trace(one));
  }
  std::vector<RunRecord> records;
  std::ranges::transform(distinct, std::back_inserter(records), read_run_record);
  database.title = program_name(measurements, records);
  database.run_json = run_json(measurements, records, used_devices(measurements, work, database),
                               looked_for_contention(measurements) ? &analysis.contention : nullptr,
                               followed_locks(measurements) ? &locks : nullptr, repaired, analysis.warnings);
  return analysis;
}

}  // namespace prof

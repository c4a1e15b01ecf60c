#include "analysis/pipeline/pipeline.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/database/pool.h"
#include "analysis/database/summaries.h"
#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/devices.h"
#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/memory_waste.h"
#include "analysis/pipeline/merged_run.h"
#include "analysis/pipeline/metrics.h"
#include "analysis/pipeline/parallel.h"
#include "analysis/pipeline/rank_checks.h"
#include "analysis/pipeline/repairs.h"
#include "analysis/pipeline/run_summary.h"
#include "analysis/pipeline/traces.h"
#include "hpcrun/measurement/device_metrics.h"

namespace prof {
namespace {

ProfileId profile_id(const ProcessMeasurement& measurement, const MeasuredThread& track) {
  if (track.kind == TrackKind::Queue) return queue_id(measurement, track);
  const MeasuredProcess& process = measurement.process;
  return {process.host, process.rank, process.pid, static_cast<int32_t>(track.index), track.name};
}

uint64_t samples_of(const MeasuredThread& track) {
  if (track.kind == TrackKind::Queue) return completed_tasks(track);
  uint64_t samples = 0;
  for (const MeasuredCell& cell : track.cells) samples += cell.samples;
  return samples;
}

// Returns the profiles, without values.
std::vector<Profile> profiles_of(const MergedRun& run) {
  std::vector<Profile> profiles;
  for (const MergedRun::Track& track : run.tracks()) {
    const ProcessMeasurement& measurement = run.store().outlines()[track.measurement];
    const MeasuredThread& thread = measurement.threads[track.thread];
    profiles.push_back({profile_id(measurement, thread), {}, samples_of(thread)});
  }
  return profiles;
}

// Returns the values in pieces, one per measurement.
ProfileValues values_of(std::shared_ptr<const MergedRun> run, int processes) {
  ProfileValues values;
  for (size_t i = 0; i <= run->store().size(); ++i) values.first.push_back(run->first_track(i));
  for (int rank = 0; rank < processes; ++rank) values.shares.push_back(run->measurements_of(rank).first);
  values.shares.push_back(run->store().size());
  auto propagations = std::make_shared<Pool<Propagation>>([] { return std::make_unique<Propagation>(); });
  values.compute = [run = std::move(run), propagations](const Database& database, size_t piece) {
    const MergedRun::Process process = run->process(piece);
    const Pool<Propagation>::Borrowed propagation(*propagations);
    std::vector<std::vector<ProfileValue>> all;
    for (size_t i = 0; i < process.tracks.size(); ++i)
      all.push_back(profile_values(*process.tracks[i], run->columns()[piece], process.context_of[i],
                                   database.contexts, *propagation));
    return all;
  };
  return values;
}

// Reads the measurement at its first call, and keeps it until the end of the trace.
class TraceOfTrack {
 public:
  TraceOfTrack(std::shared_ptr<const MergedRun> run, size_t track) : run_(std::move(run)), track_(track) {}

  bool operator()(std::vector<TraceRecord>& block) {
    if (!trace_) open();
    if (trace_(block)) return true;
    trace_ = {};
    return false;
  }

 private:
  void open() {
    const MergedRun::Track& track = run_->tracks()[track_];
    const auto whole = run_->store().whole(track.measurement);
    const MeasuredThread& thread = whole->threads[track.thread];
    trace_ = trace_of_track(thread, run_->contexts_of(track.measurement, *whole, thread), whole->process);
  }

  std::shared_ptr<const MergedRun> run_;
  size_t track_;
  TraceSource trace_;
};

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

// The launches on the queues of a process, and the times that its threads wait for devices.
class DeviceRows {
 public:
  DeviceRows(std::shared_ptr<const MergedRun> run, Database& database)
      : run_(std::move(run)),
        database_(database),
        tasks_(database, database.task_names),
        calls_(database, database.wait_names) {}

  void add(size_t measurement, const MergedRun::Process& process) {
    std::vector<uint32_t> profile_of_thread;
    for (const ThreadInDatabase& thread : process.threads()) {
      if (profile_of_thread.size() <= thread.thread->index)
        profile_of_thread.resize(thread.thread->index + size_t{1}, kNone);
      profile_of_thread[thread.thread->index] = thread.profile;
    }
    for (uint32_t i = 0; i < process.tracks.size(); ++i) {
      const MeasuredThread& track = *process.tracks[i];
      const uint32_t profile = process.first_track + i;
      const auto open = [run = run_, measurement, thread = run_->tracks()[profile].thread] {
        const auto whole = run->store().whole(measurement);
        return OpenedTrack{whole, &whole->threads[thread]};
      };
      if (track.kind == TrackKind::Queue && track.trace_bytes != 0) {
        queues_.push_back({{profile, tasks_.numbers(process.context_of[i]), profile_of_thread}, open});
      } else if (track.wait_extents && !track.wait_extents->empty()) {
        threads_.push_back({{profile, calls_.numbers(waiting_contexts(track, process.context_of[i]))}, open});
      }
    }
  }

  void finish() {
    if (!queues_.empty()) database_.launches = launch_source(std::move(queues_));
    if (!threads_.empty()) database_.device_waits = wait_source(std::move(threads_));
  }

 private:
  // Names are needed only for nodes at which the thread waited.
  static std::vector<uint32_t> waiting_contexts(const MeasuredThread& thread,
                                                const std::vector<uint32_t>& all) {
    std::vector<uint32_t> contexts(all.size(), all[0]);
    for (const MeasuredCell& cell : thread.cells)
      if (cell.metric == static_cast<uint16_t>(hpcrun::DeviceMetric::CpuIdle))
        contexts[cell.node] = all[cell.node];
    return contexts;
  }

  std::shared_ptr<const MergedRun> run_;
  Database& database_;
  FunctionNames tasks_, calls_;
  std::vector<MeasuredTrack<QueueLaunches>> queues_;
  std::vector<MeasuredTrack<ThreadWaits>> threads_;
};

// Returns all devices of all processes, with their queues.
std::vector<DeviceUse> used_devices(const MergedRun& run, const Database& database) {
  std::vector<DeviceUse> all;
  for (size_t i = 0; i < run.store().size(); ++i) {
    for (DeviceUse& use : device_uses(run.store().outlines()[i])) {
      for (uint32_t track = run.first_track(i); track < run.first_track(i + 1); ++track) {
        const ProfileId& id = database.profiles[track].id;
        if (id.device == use.device) use.queues.push_back({track, id.thread_name});
      }
      all.push_back(std::move(use));
    }
  }
  return all;
}

// Collects the data of processes beyond their call paths, one process after another.
struct Details {
  std::vector<ContendedRecord> contention;
  LocksRecord locks;
  MemoryWaste memory_waste;
  RunRepairs repairs;
};

Details details_of(const std::shared_ptr<const MergedRun>& run, const AnalyzeOptions& options,
                   Database& database, std::vector<std::string>& warnings) {
  Details details;
  DeviceRows devices(run, database);
  for (size_t i = 0; i < run->store().size(); ++i) {
    const ProcessMeasurement& outline = run->store().outlines()[i];
    const MeasurementStore::Contents& contents = run->store().contents(i);
    const bool has_queues = !outline.queues.empty();
    if (!contents.accesses && !contents.lock_waits && !contents.memory_waste && !contents.repairs &&
        !contents.device_waits && !has_queues) {
      details.repairs.add(outline, {});
      continue;
    }
    const MergedRun::Process process = run->process(i);
    const std::vector<ThreadInDatabase> threads = process.threads();
    const ProcessMeasurement& measurement = *process.measurement;
    if (contents.accesses)
      std::ranges::move(contended_records(measurement, threads, options.attribution, warnings),
                        std::back_inserter(details.contention));
    details.repairs.add(measurement, threads);
    if (contents.lock_waits) add_locks(measurement, threads, options.attribution, details.locks, warnings);
    if (contents.memory_waste) details.memory_waste.add(measurement, threads, options.attribution, warnings);
    devices.add(i, process);
  }
  std::ranges::stable_sort(details.contention, std::greater(), [](const ContendedRecord& record) {
    return std::pair(record.weight_s, record.interleaved);
  });
  sort_locks(details.locks);
  devices.finish();
  return details;
}

void add_traces(const std::shared_ptr<const MergedRun>& run, Database& database) {
  const std::vector<MergedRun::Track>& tracks = run->tracks();
  if (std::ranges::all_of(tracks, [](const MergedRun::Track& track) { return track.trace_records == 0; }))
    return;
  for (size_t i = 0; i < tracks.size(); ++i) {
    database.traces.push_back(tracks[i].trace_records == 0 ? TraceSource() : TraceOfTrack(run, i));
    database.trace_records.push_back(tracks[i].trace_records);
  }
}

// Computes the values of all profiles at once. Useful if no database is written.
void keep_values(Database& database, const AnalyzeOptions& options) {
  const ProfileValues values = std::exchange(database.values, {});
  parallel_for(values.first.size() - 1, options, "adding up threads", [&](size_t piece) {
    std::vector<std::vector<ProfileValue>> computed = values.compute(database, piece);
    for (size_t i = 0; i < computed.size(); ++i)
      database.profiles[values.first[piece] + i].values = std::move(computed[i]);
  });
  database.summaries = summarize(database);
}

// A directory that was given twice counts once.
std::vector<std::filesystem::path> distinct_directories(
    const std::vector<std::filesystem::path>& directories) {
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

// Adds up the ranks of one directory. The launcher of a rank observed only that rank.
void add_up_ranks(const std::vector<RankRecord>& ranks, RunRecord& record) {
  if (ranks.empty()) return;
  double cpu_s = 0;
  for (const RankRecord& rank : ranks) {
    cpu_s += rank.record.cpu_s.value_or(0);
    if (record.exit_status.value_or(0) == 0 && rank.record.exit_status)
      record.exit_status = rank.record.exit_status;
  }
  record.cpu_s = cpu_s;
}

}  // namespace

Analysis analyze(const std::vector<std::filesystem::path>& directories, const AnalyzeOptions& options) {
  const std::vector<std::filesystem::path> distinct = distinct_directories(directories);
  Analysis analysis;
  Database& database = analysis.database;
  const auto run = std::make_shared<const MergedRun>(distinct, options, database, analysis.warnings);
  const std::vector<ProcessMeasurement>& outlines = run->store().outlines();

  database.profiles = profiles_of(*run);
  database.values = values_of(run, options.workers->size());
  if (!options.leaves_values) keep_values(database, options);

  add_traces(run, database);
  if (!options.workers->is_first()) return analysis;

  Details details = details_of(run, options, database, analysis.warnings);
  RepairsRecord repaired = details.repairs.take();
  analysis.contention = std::move(details.contention);
  analysis.placed = details.repairs.placed();
  describe_repairs(repaired, details.repairs.moved_locks(), analysis.contention);

  std::vector<RunRecord> records;
  std::vector<RankRecord> of_ranks;
  for (const DirectoryRecords& directory : run->store().records()) {
    records.push_back(directory.run);
    add_up_ranks(directory.of_ranks, records.back());
    std::ranges::copy(directory.of_ranks, std::back_inserter(of_ranks));
  }
  std::ranges::move(check_ranks(outlines, of_ranks), std::back_inserter(analysis.warnings));
  std::ranges::move(run->store().clocks().warnings(outlines), std::back_inserter(analysis.warnings));
  database.title = program_name(outlines, records);
  for (const ProcessMeasurement& outline : outlines) database.measured_users.push_back(outline.owner);
  std::ranges::sort(database.measured_users);
  const auto repeated = std::ranges::unique(database.measured_users);
  database.measured_users.erase(repeated.begin(), repeated.end());
  RecordsOfRun found;
  found.devices = used_devices(*run, database);
  found.repairs = std::move(repaired);
  if (looked_for_contention(outlines)) found.contention = analysis.contention;
  if (followed_locks(outlines)) found.locks = std::move(details.locks);
  if (searched_for_memory_waste(outlines)) found.memory_waste = details.memory_waste.take(outlines);
  RunSummary& summary =
      database.run.emplace(summary_of(outlines, records, std::move(found), analysis.warnings));
  remove_strays(summary, {database.contexts.size(), database.profiles.size()});
  return analysis;
}

}  // namespace prof

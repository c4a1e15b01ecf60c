#include "viewer/findings/device_moments.h"

#include <algorithm>

#include "analysis/database/database.h"
#include "analysis/views/tree/call_path.h"
#include "viewer/document/traces.h"

namespace prof::viewer {

namespace {

constexpr size_t kMaxIdle = 64, kMaxWaits = 256;  // the longest ones, which are searched
constexpr size_t kMaxTasks = 4'000'000;           // 16 bytes each

bool has_traces(const Database& database) {
  return std::any_of(database.traces.begin(), database.traces.end(),
                     [](const TraceSource& trace) { return static_cast<bool>(trace); });
}

Moment moment_of(TimeRange range, uint32_t profile) {
  return {range, profile, range.begin_ns + range.ns() / 2};
}

template <typename Row, typename NsOf>
void keep_longest(std::vector<Row>& rows, size_t most, const NsOf& ns_of) {
  const auto is_longer = [&](const Row& one, const Row& other) { return ns_of(one) > ns_of(other); };
  if (rows.size() > most) {
    std::nth_element(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(most), rows.end(), is_longer);
    rows.resize(most);
  }
  std::sort(rows.begin(), rows.end(), is_longer);
}

// Returns when the first queue was created, or the first task's start if no trace shows it.
uint64_t begin_of_queues(const Database& database, uint64_t first_task_ns) {
  uint64_t begin = first_task_ns;
  for (size_t p = 0; p < database.traces.size(); ++p) {
    if (!database.traces[p] || database.profiles[p].id.device < 0) continue;
    TraceSource trace = database.traces[p];  // a copy with its own position
    std::vector<TraceRecord> block;
    if (trace(block) && !block.empty()) begin = std::min(begin, block.front().time_ns);
  }
  return begin;
}

// Returns the times without tasks on any queue.
std::vector<TimeRange> idle_between(const Database& database, std::vector<TimeRange> tasks) {
  std::sort(tasks.begin(), tasks.end(),
            [](const TimeRange& one, const TimeRange& other) { return one.begin_ns < other.begin_ns; });
  std::vector<TimeRange> idle;
  uint64_t busy_until = tasks.empty() ? 0 : begin_of_queues(database, tasks.front().begin_ns);
  for (const TimeRange& task : tasks) {
    if (task.begin_ns > busy_until) idle.push_back({busy_until, task.begin_ns});
    busy_until = std::max(busy_until, task.end_ns);
  }
  keep_longest(idle, kMaxIdle, [](const TimeRange& range) { return range.ns(); });
  return idle;
}

}  // namespace

DeviceMoments::DeviceMoments(Document& document, QObject* parent) : QObject(parent), document_(document) {
  const Database& database = document.database();
  if (!has_traces(database) || !(database.launches || database.device_waits)) return;
  search_ = std::thread([this, &database] {
    try {
      found_ = search(database, is_cancelled_);
    } catch (const std::exception&) {
      // the timeline reports it
    }
    QMetaObject::invokeMethod(
        this,
        [this] {
          search_.join();
          known_ = std::move(found_);
          emit ready();
        },
        Qt::QueuedConnection);
  });
}

DeviceMoments::~DeviceMoments() {
  is_cancelled_ = true;
  if (search_.joinable()) search_.join();
}

DeviceMoments::Known DeviceMoments::search(const Database& database, const std::atomic<bool>& is_cancelled) {
  Known known;
  std::vector<TimeRange> tasks;
  LaunchSource launches = database.launches;  // a copy with its own position
  for (std::vector<DeviceLaunch> block; launches && tasks.size() < kMaxTasks && launches(block);) {
    if (is_cancelled) return {};
    for (const DeviceLaunch& launch : block) {
      const TimeRange range{launch.start_ns, launch.end_ns};
      tasks.push_back(range);
      Moment& longest = known.runs[database.task_names[launch.task]];
      if (range.ns() >= longest.range.ns()) longest = moment_of(range, launch.queue);
      const auto [queue, is_new] = known.queues.try_emplace(launch.queue, moment_of(range, launch.queue));
      TimeRange& all = queue->second.range;
      all = {std::min(all.begin_ns, range.begin_ns), std::max(all.end_ns, range.end_ns)};
    }
  }
  known.idle = idle_between(database, std::move(tasks));
  DeviceWaitSource waits = database.device_waits;
  const auto ns_of = [](const Moment& wait) { return wait.range.ns(); };
  for (std::vector<WaitForDevice> block; waits && waits(block);) {
    if (is_cancelled) return {};
    for (const WaitForDevice& wait : block)
      known.waits.push_back(moment_of({wait.begin_ns, wait.end_ns}, wait.thread));
    keep_longest(known.waits, kMaxWaits, ns_of);
  }
  return known;
}

std::optional<Moment> DeviceMoments::run_of(const std::string& task) const {
  const auto run = known_.runs.find(task);
  return run == known_.runs.end() ? std::nullopt : std::optional(run->second);
}

std::optional<Moment> DeviceMoments::all_of(uint32_t queue) const {
  const auto all = known_.queues.find(queue);
  return all == known_.queues.end() ? std::nullopt : std::optional(all->second);
}

// True if the two innermost functions call each other there, whatever they call. A stack may lack a function
// of another module that only jumped on into a third one, as functions of OpenCL's loader do.
bool DeviceMoments::is_in(uint32_t context, const std::vector<CodeFrame>& code) const {
  if (context == kNone || code.empty()) return false;
  const std::vector<CodeFrame> path = frames_of(document_.measured_tree(), context);
  const auto compared = static_cast<ptrdiff_t>(std::min<size_t>(code.size(), 2));
  if (std::search(path.begin(), path.end(), code.begin(), code.begin() + compared,
                  [](const CodeFrame& one, const CodeFrame& other) {
                    return one.function == other.function;
                  }) != path.end())
    return true;
  if (code.size() < 2 || code[1].line == 0 || code[0].module == code[1].module) return false;
  for (size_t i = 1; i < path.size(); ++i)
    if (path[i].function == code[1].function && path[i].line == code[1].line && path[i].file == code[1].file)
      return path[i - 1].module != path[i].module;
  return false;
}

std::optional<Moment> DeviceMoments::idleness_in(const std::vector<CodeFrame>& code) const {
  if (known_.idle.empty()) return {};
  const MappedTraces& traces = document_.traces().mapped();
  for (const TimeRange& range : known_.idle) {
    Moment moment = moment_of(range, 0);
    for (size_t row = 0; row < traces.rows(); ++row) {
      moment.profile = traces.profile(row);
      if (document_.database().profiles[moment.profile].id.device >= 0) continue;
      const auto instant = instant_at(traces, row, moment.at_ns);
      if (instant && is_in(instant->context, code)) return moment;
    }
  }
  return {};
}

std::optional<Moment> DeviceMoments::wait_in(const std::vector<CodeFrame>& code) const {
  if (known_.waits.empty()) return {};
  const MappedTraces& traces = document_.traces().mapped();
  for (const Moment& wait : known_.waits) {
    for (size_t row = 0; row < traces.rows(); ++row) {
      if (traces.profile(row) != wait.profile) continue;
      const auto instant = instant_at(traces, row, wait.at_ns);
      if (instant && is_in(instant->context, code)) return wait;
    }
  }
  return {};
}

}  // namespace prof::viewer

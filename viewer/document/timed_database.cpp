#include "viewer/document/timed_database.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "analysis/database/parallel_for.h"
#include "analysis/database/propagation.h"

namespace prof::viewer {

namespace {

constexpr int kMaxJobs = 4;
constexpr double kSecondsPerNs = 1e-9;

bool is_queue(const Profile& profile) {
  return profile.id.device >= 0;
}

void take_values(const TraceIndex& index, size_t row, TimeRange range, Propagation& sums, Profile& profile) {
  // Whole nanoseconds make sums exact in any order.
  index.for_each_time(row, range.begin_ns, range.end_ns, [&](uint32_t context, uint64_t ns) {
    if (context != kNone) sums.add(context, static_cast<double>(ns));
  });
  sums.finish(is_queue(profile) ? 1 : 0, profile.values);
  std::ranges::reverse(profile.values);
  for (ProfileValue& value : profile.values) {
    value.values.exclusive *= kSecondsPerNs;
    value.values.inclusive *= kSecondsPerNs;
    value.values.point *= kSecondsPerNs;
  }
}

}  // namespace

Database timed_database(const Database& whole, const TraceIndex& index, TimeRange range) {
  Database timed;
  timed.title = whole.title;
  timed.modules = whole.modules;
  timed.files = whole.files;
  timed.functions = whole.functions;
  timed.contexts = whole.contexts;
  timed.metrics = {{kTracedTime, "sec", "time of threads in the selected range, from traces"}};
  if (std::ranges::any_of(whole.profiles, is_queue))
    timed.metrics.push_back(
        {kTracedDeviceTime, "sec", "time of device queues in the selected range, from traces"});
  for (const Profile& profile : whole.profiles) timed.profiles.push_back({profile.id, {}, 0});

  const size_t rows = index.traces().rows();
  const int jobs = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxJobs);
  std::atomic<size_t> next{0};
  parallel_for(static_cast<size_t>(jobs), jobs, [&](size_t) {
    Propagation sums;
    sums.begin(timed.contexts);
    for (size_t row = next++; row < rows; row = next++)
      take_values(index, row, range, sums, timed.profiles[index.traces().profile(row)]);
  });
  return timed;
}

}  // namespace prof::viewer

#include "repair/isolate/thread_visits.h"

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/controller.h"
#include "repair/isolate/controller_state.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/twin_pages.h"

namespace hpcrun {

namespace {

constexpr uint64_t kBusyShare = 5;  // a thread works that worked for a fifth of a round

struct Visited {
  int tid;
  uint64_t cpu_ns;
  uint64_t commits;
  uint64_t average_ns;  // of its transactions; 0: of none yet
  uint64_t rests_until_ns;
};
constinit Visited visited[kMaxThreads];  // by the thread's record

uint64_t cpu_of(const ThreadRecord& record) noexcept {
  constexpr unsigned kOfThread = 4 | 2;  // clock_getcpuclockid(3)
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(record.tid.load()) << 3 | kOfThread);
  return sys_clock_ns(clock) + cpu_ns_of_twins_of(record);
}

}  // namespace

bool ThreadVisits::has_worked(const ThreadRecord& record) noexcept {
  Visited& before = visited[place_of(record)];
  const uint64_t cpu_ns = cpu_of(record);
  const bool is_known = before.tid == record.tid.load();
  const bool has = is_known && cpu_ns - before.cpu_ns >= kCommitNs / kBusyShare;
  before.tid = record.tid.load();
  before.cpu_ns = cpu_ns;
  return has;
}

bool ThreadVisits::rests(ThreadRecord& record) noexcept {
  constexpr uint64_t kRestNs = 1'000'000'000;
  constexpr uint64_t kWorth = 20;  // commits that a transaction has to be as long as
  constexpr uint64_t kLeastNs = 10'000;
  const uint64_t now_ns = monotonic_ns();
  Visited& before = visited[place_of(record)];
  if (now_ns < before.rests_until_ns) return true;
  if (record.where.load() == Where::Home) return false;
  const PrivatePages& pages = pages_of(record);
  const uint64_t commits = pages.commits() - before.commits;
  before.commits = pages.commits();
  const uint64_t length_ns = (now_ns - ended_ns_) / (commits + 1);
  constexpr uint64_t kOld = 9, kAll = 10;
  before.average_ns = before.average_ns ? (kOld * before.average_ns + length_ns) / kAll : length_ns;
  const uint64_t commit_ns =
      pages.commits() ? controller.ns_of(pages.timed_ticks() * PrivatePages::kTimed / pages.commits()) : 0;
  if (before.average_ns >= std::max(kLeastNs, kWorth * commit_ns)) return false;
  before.average_ns = 0;
  before.rests_until_ns = now_ns + kRestNs;
  ask_back(record);
  return true;
}

void ThreadVisits::end_visit() noexcept {
  ended_ns_ = monotonic_ns();
}

}  // namespace hpcrun

#include "repair/isolate/controller/thread_visits.h"

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/controller/controller_state.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

namespace {

constexpr uint64_t kBusyShare = 5;  // a thread works if it ran for a fifth of a round

struct Visited {
  int tid = 0;
  uint64_t cpu_ns = 0;
  // When its transactions were last counted:
  uint64_t counted_ns = 0;
  uint64_t commits = 0;
  uint64_t average_ns = 0;  // of transactions; 0: none yet
  uint64_t rests_until_ns = 0;
};
constinit Visited visited[kMaxThreads];  // by the thread's record

uint64_t cpu_of(const ThreadRecord& record) noexcept {
  constexpr unsigned kOfThread = 4 | 2;  // clock_getcpuclockid(3)
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(record.tid.load()) << 3 | kOfThread);
  return sys_clock_ns(clock) + cpu_ns_of_converted_threads_of(record);
}

}  // namespace

ThreadVisits::Did ThreadVisits::look(const ThreadRecord& record) noexcept {
  Visited& before = visited[place_of(record)];
  const uint64_t cpu_ns = cpu_of(record);
  // False for another thread that had the record, and possibly the same number: it has used more.
  const bool is_known = before.tid == record.tid.load() && before.cpu_ns <= cpu_ns;
  if (!is_known) before = {};
  const uint64_t passed_ns = is_known ? cpu_ns - before.cpu_ns : 0;
  before.tid = record.tid.load();
  before.cpu_ns = cpu_ns;
  return passed_ns >= kCommitNs / kBusyShare ? Did::Work : passed_ns > 0 ? Did::Little : Did::Nothing;
}

bool ThreadVisits::rests(ThreadRecord& record, uint64_t now_ns) noexcept {
  constexpr uint64_t kRestNs = 1'000'000'000;
  constexpr uint64_t kWorth = 20;  // a transaction must take as long as this many commits
  constexpr uint64_t kMinNs = 10'000;
  Visited& before = visited[place_of(record)];
  if (now_ns < before.rests_until_ns) return true;
  const PrivatePages& pages = pages_of(record);
  // Over all the time since they were last counted, in which the thread may have waited.
  const uint64_t commits = pages.commits() - before.commits;
  const uint64_t passed_ns = now_ns - before.counted_ns;
  before.commits = pages.commits();
  before.counted_ns = now_ns;
  if (record.where.load() == Where::Home) return false;  // transactions begin with the next round
  const uint64_t length_ns = passed_ns / (commits + 1);
  constexpr uint64_t kOld = 9, kAll = 10;
  before.average_ns = before.average_ns ? (kOld * before.average_ns + length_ns) / kAll : length_ns;
  const uint64_t commit_ns =
      pages.commits() ? controller.ns_of(pages.timed_ticks() * PrivatePages::kTimed / pages.commits()) : 0;
  if (before.average_ns >= std::max(kMinNs, kWorth * commit_ns)) return false;
  before.rests_until_ns = now_ns + kRestNs;
  ask_back(record);
  return true;
}

}  // namespace hpcrun

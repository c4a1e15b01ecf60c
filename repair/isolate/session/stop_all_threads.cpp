#include "repair/isolate/session/stop_all_threads.h"

#include <sys/syscall.h>

#include <cstdint>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/interrupted_calls.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

// A pass over all tasks. The kernel lists them while they are created and end: if one ends meanwhile, another
// one may be missing.
struct TaskLook {
  bool are_settled = true;
  uint32_t found = 0;
  uint64_t tids = 0;  // hash
};

}  // namespace

bool stop_all_threads(bool (*is_settled)(int tid) noexcept) noexcept {
  static int asked[kMaxThreads];
  int asked_count = 0;
  const int self = sys_gettid();
  const uint64_t begin = monotonic_ns();
  TaskLook before{.are_settled = false};
  for (;;) {
    TaskLook look;
    const uint32_t there_are = count_tasks();
    const uint32_t arrived = session.arrived.load();
    const bool is_late = monotonic_ns() - begin > kStopTimeoutNs / 100;
    for_each_task([&](int tid) {
      constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
      ++look.found;
      look.tids = (look.tids ^ static_cast<uint64_t>(tid)) * kGolden;
      if (tid == self || is_settled(tid)) return;
      if (is_late && tid == session.pid && is_dead_task(tid)) return;
      look.are_settled = false;
      for (int i = 0; i < asked_count; ++i)
        if (asked[i] == tid) return;
      if (asked_count == static_cast<int>(kMaxThreads)) return session.failed.store(true);
      asked[asked_count++] = tid;
      if (session.phase.load() == Phase::Entering) note_call_of(tid);
      raw_syscall(SYS_tgkill, session.pid, tid, session.request_signal);
    });
    if (session.failed.load()) return false;
    const bool are_all = look.found == there_are;
    if (look.are_settled && before.are_settled && look.tids == before.tids && are_all) return true;
    if (monotonic_ns() - begin > kStopTimeoutNs) return false;
    before = look;
    if (!look.are_settled || !are_all) wait_while(session.arrived, arrived, kShortWaitNs);
  }
}

}  // namespace hpcrun

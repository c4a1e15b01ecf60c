#include "analysis/pipeline/open_waits.h"

#include <algorithm>
#include <map>

#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/nanosecond.h"

namespace prof {
namespace {

using hpcrun::LockRole;

constexpr size_t kMaxWaits = 256;

// The thread that was last recorded to hold a lock.
struct Seen {
  uint64_t when_ns = 0;
  uint64_t holder_id = 0;
};

std::map<uint64_t, Seen> seen_holders(std::span<const ThreadInDatabase> threads) {
  std::map<uint64_t, Seen> seen;
  for (const ThreadInDatabase& thread : threads)
    for (const MeasuredLockCell& cell : thread.thread->locks)
      if (cell.role == LockRole::Held && cell.total_ns >= seen[cell.object].when_ns)
        seen[cell.object] = {cell.total_ns, cell.longest_ns};
  return seen;
}

OpenWaitRecord make_record(const MeasuredProcess& process, const ThreadInDatabase& thread,
                           const MeasuredLockCell& cell, ProcessVariables& variables) {
  OpenWaitRecord record;
  record.host = process.host;
  record.rank = process.rank;
  record.process = process.pid;
  record.thread = thread.thread->tid;
  record.thread_name = thread.thread->name;
  const LockName name = name_of_lock(cell.object, variables);
  record.kind = kind_of_lock(cell.kind, name);
  record.name = name.name;
  record.address = cell.object;
  record.context = thread.context_of[cell.node];
  record.seconds = static_cast<double>(cell.total_ns) * kNanosecond;
  record.holder = static_cast<int32_t>(cell.holder_id);
  return record;
}

// Numbers each cycle of waits in which every thread holds the lock that the previous one waits for.
void find_deadlocks(std::span<OpenWaitRecord> waits, uint64_t next_number) {
  std::map<int32_t, OpenWaitRecord*> of_thread;
  for (OpenWaitRecord& wait : waits) of_thread[wait.thread] = &wait;
  const auto next = [&](const OpenWaitRecord& wait) -> OpenWaitRecord* {
    const auto found = of_thread.find(wait.holder);
    return wait.is_confirmed && found != of_thread.end() ? found->second : nullptr;
  };
  for (OpenWaitRecord& first : waits) {
    if (first.deadlock != 0) continue;
    OpenWaitRecord* at = next(first);
    for (size_t steps = 0; at && at != &first && steps < waits.size(); ++steps) at = next(*at);
    if (at != &first) continue;
    do {
      at->deadlock = next_number;
      at = next(*at);
    } while (at != &first);
    ++next_number;
  }
}

}  // namespace

void add_open_waits(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
                    ProcessVariables& variables, std::vector<OpenWaitRecord>& waits) {
  const std::map<uint64_t, Seen> seen = seen_holders(threads);
  std::map<int32_t, std::string> names;
  for (const ThreadInDatabase& thread : threads) names[thread.thread->tid] = thread.thread->name;
  uint64_t next_number = 1;
  for (const OpenWaitRecord& wait : waits) next_number = std::max(next_number, wait.deadlock + 1);
  std::vector<OpenWaitRecord> own;
  for (const ThreadInDatabase& thread : threads) {
    for (const MeasuredLockCell& cell : thread.thread->locks) {
      if (!cell.is_open || !hpcrun::is_held(cell.kind)) continue;
      OpenWaitRecord record = make_record(measurement.process, thread, cell, variables);
      if (const auto found = seen.find(cell.object);
          found != seen.end() && found->second.when_ns >= cell.since_ns) {
        record.holder = static_cast<int32_t>(found->second.holder_id);
        record.is_confirmed = true;
      }
      if (const auto name = names.find(record.holder); name != names.end()) record.holder_name = name->second;
      own.push_back(std::move(record));
    }
  }
  find_deadlocks(own, next_number);
  std::ranges::stable_sort(own, std::less(), [](const OpenWaitRecord& wait) {
    return wait.deadlock == 0 ? UINT64_MAX : wait.deadlock;
  });
  for (OpenWaitRecord& record : own)
    if (waits.size() < kMaxWaits) waits.push_back(std::move(record));
}

}  // namespace prof

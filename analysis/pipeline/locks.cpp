#include "analysis/pipeline/locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/pipeline/nanosecond.h"
#include "analysis/pipeline/open_waits.h"
#include "analysis/pipeline/process_variables.h"
#include "hpcrun/measurement/lock_metrics.h"

namespace prof {
namespace {

using hpcrun::LockKind;
using hpcrun::LockMetric;
using hpcrun::LockRole;

constexpr size_t kMaxLocks = 256;
constexpr size_t kMaxSides = 64;  // of each lock
constexpr size_t kMaxWork = 1024;
constexpr std::string_view kCritical = ".gomp_critical_user_";  // in names of GCC's critical sections

WaitedFor waited_for(LockKind kind) {
  switch (kind) {
    case LockKind::Mutex:
      return WaitedFor::Mutex;
    case LockKind::ReadWriteLock:
      return WaitedFor::ReadWriteLock;
    case LockKind::SpinLock:
      return WaitedFor::SpinLock;
    case LockKind::CriticalSection:
      return WaitedFor::CriticalSection;
    case LockKind::Condition:
      return WaitedFor::Condition;
    case LockKind::Semaphore:
      return WaitedFor::Semaphore;
    case LockKind::Barrier:
      return WaitedFor::Barrier;
    case LockKind::Join:
      return WaitedFor::EndOfThread;
    case LockKind::Team:
      return WaitedFor::ParallelRegion;
  }
  return WaitedFor::UnknownLock;
}

LockMetric metric_of(const MeasuredLockCell& cell) {
  if (cell.role == LockRole::Blame) return LockMetric::Blame;
  if (cell.role == LockRole::Idle) return LockMetric::IdleBlame;
  return hpcrun::is_held(cell.kind) ? LockMetric::Wait : LockMetric::Blocked;
}

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * kNanosecond;
}

// Sums of one context.
struct Sum {
  std::set<uint32_t> threads;
  uint64_t count = 0;
  uint64_t total_ns = 0;
  uint64_t longest_ns = 0;
  uint64_t open = 0;

  void add(const MeasuredLockCell& cell) {
    threads.insert(cell.thread);
    count += cell.waits;
    total_ns += cell.total_ns;
    longest_ns = std::max(longest_ns, cell.longest_ns);
    open += cell.is_open;
  }
};
using Sums = std::map<uint32_t, Sum>;  // by context

struct Lock {
  LockKind kind{};
  uint64_t open_ns = 0;
  Sums waiters, holders;
};

std::vector<LockSide> sides_of(const Sums& sums) {
  std::vector<LockSide> sides;
  for (const auto& [context, sum] : sums)
    sides.push_back(
        {context, sum.threads.size(), sum.count, seconds(sum.total_ns), seconds(sum.longest_ns), sum.open});
  std::ranges::stable_sort(sides, std::greater(), &LockSide::seconds);
  return sides;
}

// Merges the sides of another lock into `sides`.
void merge(std::vector<LockSide>& sides, const std::vector<LockSide>& more) {
  for (const LockSide& side : more) {
    const auto known = std::ranges::find(sides, side.context, &LockSide::context);
    if (known == sides.end()) {
      sides.push_back(side);
      continue;
    }
    known->threads = std::max(known->threads, side.threads);
    known->count += side.count;
    known->seconds += side.seconds;
    known->longest_s = std::max(known->longest_s, side.longest_s);
    known->open += side.open;
  }
  std::ranges::stable_sort(sides, std::greater(), &LockSide::seconds);
}

void merge(LockRecord& record, const LockRecord& other) {
  record.objects += other.objects;
  record.waits += other.waits;
  record.waited_s += other.waited_s;
  record.blamed_s += other.blamed_s;
  record.longest_s = std::max(record.longest_s, other.longest_s);
  record.open_s += other.open_s;
  merge(record.waiters, other.waiters);
  merge(record.holders, other.holders);
}

// Returns the member of the variable that is the lock, without the members that the C and C++ libraries build
// a lock from.
std::string place_of(const VariableInMemory& found, uint64_t address) {
  const uint64_t offset = address - found.begin;
  const std::vector<DataPart> parts = found.variables->parts(*found.variable, offset, offset + 1);
  if (parts.empty()) return "";
  std::string path = parts.front().path;
  // Names of such members in glibc, libstdc++ and libgomp.
  for (const char* inner : {"._M_", ".__data", ".__lock", ".__size", ".__align", "._x"})
    if (const size_t at = path.find(inner); at != path.npos) path.resize(at);
  return path;
}

LockRecord make_record(const MeasuredProcess& process, uint64_t address, const Lock& lock,
                       ProcessVariables& variables) {
  LockRecord record;
  record.host = process.host;
  record.rank = process.rank;
  record.process = process.pid;
  record.address = address;
  record.objects = 1;
  LockName name = name_of_lock(address, variables);
  record.kind = kind_of_lock(lock.kind, name);
  record.name = std::move(name.name);
  record.declared = std::move(name.declared);
  record.open_s = seconds(lock.open_ns);
  record.waiters = sides_of(lock.waiters);
  record.holders = sides_of(lock.holders);
  for (const LockSide& side : record.waiters) {
    record.waits += side.count;
    record.waited_s += side.seconds;
    record.longest_s = std::max(record.longest_s, side.longest_s);
  }
  for (const LockSide& side : record.holders) record.blamed_s += side.seconds;
  return record;
}

// Returns the newest allocation that contains the address.
const MeasuredObject* allocation_of(const ProcessMeasurement& measurement, uint64_t address) {
  const MeasuredObject* found = nullptr;
  for (const MeasuredObject& object : measurement.objects)
    if (object.begin <= address && address - object.begin < std::max<uint64_t>(object.bytes, 1))
      found = &object;
  return found;
}

// Sums the work in one context while other threads were idle.
struct Work {
  std::set<uint32_t> threads;
  uint64_t blame_ns = 0, cpu_ns = 0, idle_cpu_ns = 0, of_all_ns = 0;
};

void add_idle(const MeasuredThread& thread, std::span<const uint32_t> context_of, uint16_t cpu_time,
              std::map<uint32_t, Work>& work) {
  for (const MeasuredLockCell& cell : thread.locks) {
    if (cell.role != LockRole::Idle) continue;
    Work& here = work[context_of[cell.node]];
    here.threads.insert(thread.index);
    here.blame_ns += cell.total_ns;
    here.idle_cpu_ns += cell.waits;
    here.of_all_ns += cell.longest_ns;
  }
  for (const MeasuredCell& cell : thread.cells)
    if (cell.metric == cpu_time)
      if (const auto known = work.find(context_of[cell.node]); known != work.end())
        known->second.cpu_ns += cell.value;
}

uint16_t cpu_time_of(const ProcessMeasurement& measurement) {
  const auto metric = std::ranges::find(measurement.metrics, "CPUTIME", &MeasuredMetric::name);
  return metric == measurement.metrics.end() ? UINT16_MAX : metric->id;
}

void add_work(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
              LocksRecord& locks) {
  std::map<uint32_t, Work> work;
  for (const ThreadInDatabase& thread : threads)
    add_idle(*thread.thread, thread.context_of, cpu_time_of(measurement), work);
  for (const auto& [context, one] : work) {
    if (one.blame_ns == 0) continue;
    const auto of_all = static_cast<double>(one.of_all_ns);
    locks.idle.push_back({context, one.threads.size(), seconds(one.blame_ns), seconds(one.cpu_ns),
                          seconds(one.idle_cpu_ns), of_all / static_cast<double>(one.idle_cpu_ns),
                          of_all / static_cast<double>(one.blame_ns)});
  }
}

}  // namespace

LockName name_of_lock(uint64_t address, ProcessVariables& variables) {
  if (address == hpcrun::kUnnamedCriticalSection) return {"the critical section without a name", "", true};
  const VariableInMemory found = variables.find(address);
  if (!found.variable) return {};
  std::string name = found.variable->name + place_of(found, address);
  const bool is_section = name.starts_with(kCritical);
  if (is_section) name.erase(0, kCritical.size());
  return {std::move(name), place_in_source(found.variable->file, found.variable->line), is_section};
}

WaitedFor kind_of_lock(LockKind kind, const LockName& name) {
  return kind == LockKind::CriticalSection && !name.is_section ? WaitedFor::OpenMpLock : waited_for(kind);
}

void charge_locks(ProcessMeasurement& measurement) {
  std::map<uint32_t, MeasuredThread*> by_index;
  for (MeasuredThread& thread : measurement.threads) by_index[thread.index] = &thread;
  for (MeasuredThread& thread : measurement.threads)
    for (const MeasuredLockCell& cell : thread.locks)
      if (cell.role != LockRole::Held)
        by_index.at(cell.thread)
            ->cells.push_back({cell.node, static_cast<uint16_t>(metric_of(cell)), 0, cell.total_ns});
}

bool followed_locks(const std::vector<ProcessMeasurement>& measurements) {
  return std::ranges::any_of(measurements, [](const ProcessMeasurement& measurement) {
    return measurement.counter(hpcrun::Counter::FollowsLocks) != 0;
  });
}

bool has_lock_waits(const ProcessMeasurement& measurement) {
  return std::ranges::any_of(measurement.threads,
                             [](const MeasuredThread& thread) { return !thread.locks.empty(); });
}

void add_locks(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
               const AttributionOptions& options, LocksRecord& locks, std::vector<std::string>& warnings) {
  std::map<uint32_t, std::span<const uint32_t>> context_of;
  for (const ThreadInDatabase& thread : threads) context_of[thread.thread->index] = thread.context_of;
  std::map<uint64_t, Lock> by_address;
  std::map<LockKind, Sums> blocked;
  for (const ThreadInDatabase& thread : threads) {
    for (const MeasuredLockCell& cell : thread.thread->locks) {
      const auto contexts = context_of.find(cell.thread);
      if (contexts == context_of.end() || cell.role > LockRole::Blame) continue;
      const uint32_t context = contexts->second[cell.node];
      if (!hpcrun::is_held(cell.kind)) {
        blocked[cell.kind][context].add(cell);
        continue;
      }
      Lock& lock = by_address[cell.object];
      const bool is_blame = cell.role == LockRole::Blame;
      if (!is_blame) lock.kind = cell.kind;
      if (cell.is_open) lock.open_ns += cell.total_ns;
      (is_blame ? lock.holders : lock.waiters)[context].add(cell);
    }
  }
  const std::vector<ModuleInMemory> modules = modules_in_memory(measurement);
  ProcessVariables variables(modules, options, warnings);
  // By kind, and by allocation site; without one, by the context in which most of the waiting took place.
  std::map<std::tuple<WaitedFor, uint32_t, uint64_t, uint32_t>, size_t> unnamed;
  for (const auto& [address, lock] : by_address) {
    if (lock.waiters.empty()) continue;
    LockRecord record = make_record(measurement.process, address, lock, variables);
    if (record.name.empty()) {
      const MeasuredObject* const object = allocation_of(measurement, address);
      const auto allocating = object ? context_of.find(object->thread) : context_of.end();
      if (allocating != context_of.end() && object->node < allocating->second.size()) {
        record.allocation = allocating->second[object->node];
        record.offset = address - object->begin;
      }
      const uint32_t waited_at = record.allocation == 0 ? record.waiters.front().context : 0;
      const auto [known, added] =
          unnamed.try_emplace({record.kind, record.allocation, record.offset, waited_at}, locks.locks.size());
      if (!added) {
        merge(locks.locks[known->second], record);
        continue;
      }
    }
    locks.locks.push_back(std::move(record));
  }
  for (const auto& [kind, sums] : blocked)
    for (const LockSide& side : sides_of(sums))
      locks.blocked.push_back({waited_for(kind), side.context, side.threads, side.count, side.seconds,
                               side.longest_s, side.open});
  add_work(measurement, threads, locks);
  add_open_waits(measurement, threads, variables, locks.open);
}

void sort_locks(LocksRecord& locks) {
  std::ranges::stable_sort(locks.locks, std::greater(), &LockRecord::waited_s);
  std::ranges::stable_sort(locks.blocked, std::greater(), &BlockedRecord::seconds);
  if (locks.locks.size() > kMaxLocks) locks.locks.resize(kMaxLocks);
  if (locks.blocked.size() > kMaxSides) locks.blocked.resize(kMaxSides);
  std::ranges::stable_sort(locks.idle, std::greater(), &IdleRecord::seconds);
  if (locks.idle.size() > kMaxWork) locks.idle.resize(kMaxWork);
  for (LockRecord& record : locks.locks)
    for (std::vector<LockSide>* sides : {&record.waiters, &record.holders})
      if (sides->size() > kMaxSides) sides->resize(kMaxSides);
}

}  // namespace prof

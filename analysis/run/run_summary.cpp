#include "analysis/run/run_summary.h"

#include <algorithm>

namespace prof {
namespace {

constexpr uint64_t kLineBytes = 64;

bool leads_somewhere(const ContendedRecord::Side& side, const ContendedRecord& record, RunLimits limits) {
  return side.bytes > 0 && side.bytes <= kLineBytes && side.line_offset < kLineBytes &&
         side.profile < limits.profiles && side.context < limits.contexts &&
         side.allocation <= record.allocations.size();
}

void remove_strays(ContendedRecord& record, RunLimits limits) {
  for (ContendedRecord::Allocation& allocation : record.allocations)
    if (allocation.context >= limits.contexts) allocation.context = 0;
  std::erase_if(record.sides, [&](const auto& side) { return !leads_somewhere(side, record, limits); });
}

template <typename Record>
void remove_strays(std::vector<Record>& records, RunLimits limits) {
  std::erase_if(records, [&](const Record& one) { return one.context >= limits.contexts; });
}

void remove_strays(LocksRecord& records, RunLimits limits) {
  for (LockRecord& lock : records.locks) {
    remove_strays(lock.waiters, limits);
    remove_strays(lock.holders, limits);
    if (lock.allocation >= limits.contexts) lock.allocation = 0;
  }
  std::erase_if(records.locks, [](const LockRecord& lock) { return lock.waiters.empty(); });
  remove_strays(records.blocked, limits);
  remove_strays(records.idle, limits);
  remove_strays(records.open, limits);
}

void remove_strays(MemoryWasteRecord& record, RunLimits limits) {
  std::erase_if(record.pairs, [&](const WastePair& pair) {
    return pair.first >= limits.contexts || pair.second >= limits.contexts;
  });
  for (WastePair& pair : record.pairs)
    if (pair.allocation >= limits.contexts) pair.allocation = 0;
}

}  // namespace

uint64_t RunSummary::dropped_samples() const {
  uint64_t all = 0;
  for (const auto& [reason, n] : dropped) all += n;
  return all;
}

void remove_strays(RunSummary& run, RunLimits limits) {
  for (DeviceUse& use : run.devices)
    std::erase_if(use.queues,
                  [&](const DeviceUse::Queue& queue) { return queue.profile >= limits.profiles; });
  for (ContendedRecord& record : run.contention) remove_strays(record, limits);
  remove_strays(run.locks, limits);
  remove_strays(run.memory_waste, limits);
  for (RepairsRecord::Site& site : run.repairs.sites)
    if (site.context >= limits.contexts) site.context = 0;
}

}  // namespace prof

#include "hpcrun/contention/written_lines.h"

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

namespace {

uint64_t place_of(uint64_t line) noexcept {
  static_assert(uint64_t{1} << (64 - 51) == WrittenLines::kMaxLines);
  return line / kLineBytes * 0x9e3779b97f4a7c15u >> 51;
}

}  // namespace

bool WrittenLines::start() noexcept {
  if (!entries_) entries_ = static_cast<Entry*>(map_own_memory(kMaxLines * sizeof(Entry)));
  return entries_ != nullptr;
}

void WrittenLines::reset_after_fork() noexcept {
  entries_ = nullptr;
  count_.store(0, std::memory_order_relaxed);
  lost_.store(0, std::memory_order_relaxed);
}

WrittenLines::Entry* WrittenLines::find(uint64_t line, bool adds) noexcept {
  for (uint32_t step = 0; step < kTries; ++step) {
    Entry& entry = entries_[(place_of(line) + step) % kMaxLines];
    uint64_t there = entry.line.load(std::memory_order_acquire);
    if (there == line) return &entry;
    if (there) continue;
    if (!adds) return nullptr;
    if (entry.line.compare_exchange_strong(there, line, std::memory_order_acq_rel)) {
      count_.fetch_add(1, std::memory_order_relaxed);
      return &entry;
    }
    if (there == line) return &entry;
  }
  return adds ? replace(line) : nullptr;
}

// Replaces a line that threads did not change alternately. A thread that records a change of the old line at
// the same time counts as having changed the new one once.
WrittenLines::Entry* WrittenLines::replace(uint64_t line) noexcept {
  for (uint32_t step = 0; step < kTries; ++step) {
    Entry& entry = entries_[(place_of(line) + step) % kMaxLines];
    if (entry.status.interleaved() > 0) continue;
    uint64_t there = entry.line.load(std::memory_order_acquire);
    if (there == line) return &entry;
    if (!entry.line.compare_exchange_strong(there, line, std::memory_order_acq_rel)) continue;
    entry.status.clear();
    return &entry;
  }
  return nullptr;
}

void WrittenLines::note(uint64_t line, uint32_t thread, uint64_t bytes) noexcept {
  Entry* const entry = entries_ ? find(line, true) : nullptr;
  if (entry)
    entry->status.note(thread, bytes);
  else
    lost_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hpcrun

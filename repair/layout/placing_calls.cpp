// Places allocations in the program's calls of its allocator, outside handlers.

#include <algorithm>

#include "hpcrun/heap/allocations.h"
#include "hpcrun/sample/process_mark.h"
#include "repair/layout/placing.h"

namespace hpcrun {

namespace {

// Adds to the file at once for the first ones, so that even few of them are known if the process is killed.
void count_placed(ThreadState& thread, AllocationContexts& own, size_t padding) noexcept {
  constexpr uint64_t kOften = 64;
  ++own.placed;
  own.padding += padding;
  const std::atomic<uint64_t>& noted = process_state.file.counter(Counter::PlacedAllocations);
  if (own.placed >= kOften || noted.load(std::memory_order_relaxed) < kOften) note_placed(thread);
}

}  // namespace

PlaceAnswer place(size_t bytes, size_t align, const void* frame) noexcept {
  if (!is_sampling_this_copy()) return {};
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return {};
  const SiteId site = site_of(*thread, std::max<size_t>(bytes, 1), align, frame);
  const Placement placement = placing.sites.of(site).placement;
  if (placement == kAsAllocated) return {0, 0, 0, site};
  return {static_cast<uint16_t>(placement.align), static_cast<uint16_t>(placement.offset),
          static_cast<uint16_t>(placement.pad), site};
}

void made(void* at, size_t bytes, size_t padding, PlaceAnswer answer, PlaceOutcome outcome) noexcept {
  if (!is_sampling_this_copy() || answer.site == kNoSite) return;
  const auto begin = reinterpret_cast<uint64_t>(at);
  note_allocation(begin, bytes, answer.site);
  if (outcome == PlaceOutcome::Placed) {
    ThreadState* const thread = this_thread();
    AllocationContexts* const own = thread ? allocation_slot.of(*thread) : nullptr;
    if (own) count_placed(*thread, *own, padding);
  } else if (outcome == PlaceOutcome::Refused) {
    process_state.file.counter(Counter::PlacementsRefused).fetch_add(1, std::memory_order_relaxed);
  }
  if (placing.sites.of(answer.site).has_locks) add_contended(begin, bytes);
}

}  // namespace hpcrun

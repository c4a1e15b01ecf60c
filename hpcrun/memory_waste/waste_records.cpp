#include "hpcrun/memory_waste/waste_records.h"

#include "hpcrun/heap/heap.h"

namespace hpcrun {

namespace {

WastedMemory memory_of(const Watch& watch) noexcept {
  WastedMemory memory{0, 0, watch.bytes.address, watch.bytes.access_bytes};
  FoundAllocation found;
  if (!heap.is_followed.load(std::memory_order_relaxed)) return memory;
  if (!heap.map.find(watch.bytes.address, found)) return memory;
  const AllocationSite site = heap.sites.site(found.site);
  if (watch.bytes.address >= found.begin + site.bytes) return memory;
  memory.object_node = site.node;
  memory.object_thread = site.thread;
  return memory;
}

void add(WasteCells& cells, const WasteSite& site, const Watch* watch, uint64_t count,
         uint64_t bytes) noexcept {
  WasteCell* cell = cells.find(site);
  if (!cell) cell = cells.make(site, watch ? memory_of(*watch) : WastedMemory{});
  if (cell) WasteCells::add(*cell, count, bytes);
}

void add_total(WasteCells& cells, uint32_t thread, WasteKind kind, NodeId node, uint64_t count,
               uint64_t bytes) noexcept {
  add(cells, {node, thread, 0, 0, kind, 0}, nullptr, count, bytes);
}

// The first access of a dead store is the one that is checked. Otherwise it is the second, if there was one.
NodeId checked_node(const Watch& watch, const Outcome& outcome) noexcept {
  const bool is_first = watch.bytes.kind == WasteKind::DeadStore || outcome.second == kNoNode;
  return is_first ? watch.first : outcome.second;
}

void record_outcome(WasteCells& cells, uint32_t thread, const Watch& watch, const Outcome& outcome,
                    bool is_new) noexcept {
  const uint64_t bytes = represented_bytes(watch.bytes, outcome.bytes);
  add_total(cells, thread, watch.bytes.kind, checked_node(watch, outcome), is_new, bytes);
  if (!outcome.is_wasted || outcome.second == kNoNode) return;
  const uint8_t flags = outcome.is_frame_end ? kWasteFrameEnded : 0;
  add(cells, {watch.first, thread, outcome.second, thread, watch.bytes.kind, flags}, &watch, 1, bytes);
}

}  // namespace

void record_watch(WasteCells& cells, uint32_t thread, const Watch& watch, bool is_certain) noexcept {
  const WatchedBytes& bytes = watch.bytes;
  if (!is_certain || watch.outcome_count == 0)
    return record_undecided(cells, thread, bytes.kind, watch.first, bytes.access_bytes);
  const bool is_dead = bytes.kind == WasteKind::DeadStore;
  for (uint8_t i = 0; i < watch.outcome_count; ++i)
    record_outcome(cells, thread, watch, watch.outcomes[i], !is_dead || i == 0);
  if (bytes.left)
    add(cells, {watch.first, thread, 0, 0, bytes.kind, kWasteUndecided}, nullptr, 0,
        represented_bytes(bytes, bytes.left));
}

void record_undecided(WasteCells& cells, uint32_t thread, WasteKind kind, NodeId node,
                      uint64_t bytes) noexcept {
  add(cells, {node, thread, 0, 0, kind, kWasteUndecided}, nullptr, 1, bytes);
}

}  // namespace hpcrun

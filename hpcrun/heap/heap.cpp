#include "hpcrun/heap/heap.h"

#include "hpcrun/guest/clock.h"
#include "hpcrun/heap/allocation_hooks.h"
#include "hpcrun/heap/allocations.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

constinit Heap heap;
constinit AllocationHooks allocation_hooks;
constinit ThreadSlot<AllocationContexts> allocation_slot;

void end_object(uint64_t begin) noexcept {
  if (const uint64_t number = heap.recorded.remove(begin))
    process_state.file.write_object_end(number, monotonic_ns());
}

namespace {

// Returns the number as in AccessRecord::object.
uint64_t object_of(uint64_t number) noexcept {
  return number == RecordedObjects::kNone ? 0 : number + 1;
}

// Returns the number of an allocation of the program, or kNone if none is known.
uint64_t allocation_at(uint64_t address, FoundAllocation& found) noexcept {
  if (!heap.map.find(address, found)) return RecordedObjects::kNone;
  const AllocationSite site = heap.sites.site(found.site);
  if (address >= found.begin + site.bytes) return RecordedObjects::kNone;
  bool is_new;
  const uint64_t number = heap.recorded.number_of(found.begin, is_new);
  if (is_new) {
    process_state.file.write_object(
        {number, found.begin, site.varies ? 0 : site.bytes, 0, site.thread, site.node, site.align});
    if (!heap.map.mark(found.begin)) end_object(found.begin);  // released meanwhile
  }
  return number;
}

// Returns the number of memory that the program mapped itself.
uint64_t mapping_at(uint64_t address) noexcept {
  FoundMapping found;
  if (!heap.mappings.find(address, found)) return Mappings::kNone;
  if (const uint64_t known = heap.mappings.number_of(found, Mappings::kNone)) return known;
  const uint64_t number = heap.recorded.take_number();
  if (number == RecordedObjects::kNone || heap.mappings.number_of(found, number) != number)
    return Mappings::kNone;  // another thread was faster, or it was unmapped; the next access tries again
  const AllocationSite site = heap.sites.site(found.site);
  process_state.file.write_object({number, found.begin, found.bytes, 0, site.thread, site.node, site.align});
  return number;
}

}  // namespace

DataLocation location_of(uint64_t address) noexcept {
  FoundAllocation found;
  if (const uint64_t number = allocation_at(address, found); number != RecordedObjects::kNone)
    return {object_of(number), found.begin, found.site};
  return {object_of(mapping_at(address)), 0, kNoSite};
}

uint64_t object_at(uint64_t address) noexcept {
  return location_of(address).object;
}

}  // namespace hpcrun

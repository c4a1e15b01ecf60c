#include "hpcrun/memory/heap.h"

#include "hpcrun/guest/clock.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

constinit Heap heap;

void end_object(uint64_t begin) noexcept {
  if (const uint64_t number = heap.told.remove(begin))
    process_state.file.write_object_end(number, monotonic_ns());
}

uint64_t object_at(uint64_t address) noexcept {
  FoundAllocation found;
  if (!heap.map.find(address, found)) return 0;
  const AllocationSite site = heap.sites.site(found.site);
  if (address >= found.begin + site.bytes) return 0;
  bool is_new;
  const uint64_t number = heap.told.number_of(found.begin, is_new);
  if (number == ToldObjects::kNone) return 0;
  if (is_new) {
    process_state.file.write_object(
        {number, found.begin, site.varies ? 0 : site.bytes, 0, site.thread, site.node});
    if (!heap.map.mark(found.begin)) end_object(found.begin);  // released meanwhile
  }
  return number + 1;
}

}  // namespace hpcrun

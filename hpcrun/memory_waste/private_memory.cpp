#include "hpcrun/memory_waste/private_memory.h"

#include <string_view>

namespace hpcrun {

namespace {

struct Search {
  uint64_t address;
  uint64_t low;
  uint64_t high;
  bool is_private;
};

void look_at(void* argument, const OwnMapping& mapping) noexcept {
  Search& search = *static_cast<Search*>(argument);
  if (search.address < mapping.low || search.address >= mapping.high) return;
  search.low = mapping.low;
  search.high = mapping.high;
  const std::string_view name = mapping.name;
  const bool is_device = name.starts_with("/dev/") && name != "/dev/zero";
  search.is_private = !mapping.is_shared && !is_device;
}

}  // namespace

const PrivateMemory::Range* PrivateMemory::find(uint64_t address, uint64_t now_ns) const noexcept {
  for (const Range& range : ranges_)
    if (address >= range.low && address < range.high && now_ns < range.until_ns) return &range;
  return nullptr;
}

bool PrivateMemory::contains(uint64_t address, uint64_t now_ns) noexcept {
  if (const Range* const known = find(address, now_ns)) return known->is_private;
  if (now_ns < next_read_ns_) return false;
  next_read_ns_ = now_ns + kRestNs;
  Search search{address, 0, 0, false};
  for_each_mapping(look_at, &search, lines_);
  if (!search.high) return false;
  ranges_[next_++ % kRanges] = {search.low, search.high, now_ns + kValidNs, search.is_private};
  return search.is_private;
}

}  // namespace hpcrun

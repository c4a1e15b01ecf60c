#include "hpcrun/process/thread_stack.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>

#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

struct Search {
  uint64_t address;
  uint64_t end_before = 0;  // of the previous mapping
  StackBounds found{};
};

// Returns the lowest address to which the kernel lets the first stack grow.
uint64_t lowest_of_first_stack(uint64_t high, uint64_t low) noexcept {
  rlimit limit{};
  if (raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit)) != 0) return low;
  return std::min(low, limit.rlim_cur < high ? high - limit.rlim_cur : 0);
}

void look_at(void* raw, const OwnMapping& mapping) noexcept {
  auto& search = *static_cast<Search*>(raw);
  if (search.address >= mapping.low && search.address < mapping.high) {
    const bool is_first = strcmp(mapping.name, "[stack]") == 0;
    const uint64_t low = is_first ? lowest_of_first_stack(mapping.high, mapping.low) : mapping.low;
    search.found = {std::max(low, search.end_before), mapping.high};
  }
  search.end_before = mapping.high;
}

}  // namespace

StackBounds stack_of_caller() noexcept {
  Search search{reinterpret_cast<uint64_t>(__builtin_frame_address(0))};
  for_each_mapping(look_at, &search);
  return search.found;
}

}  // namespace hpcrun

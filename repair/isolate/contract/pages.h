#pragma once

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr size_t kPageBytes = 4096;  // a huge page is isolated in pieces of this size

constexpr uint64_t page_down(uint64_t address) {
  return address & ~uint64_t{kPageBytes - 1};
}
constexpr uint64_t page_up(uint64_t address) {
  return page_down(address + kPageBytes - 1);
}

}  // namespace hpcrun

#include "repair/isolate/memory/reservation.h"

#include <algorithm>

namespace hpcrun {

namespace {

constexpr uint64_t kLarge = uint64_t{2} << 20;
constexpr uint64_t kDumpStep = uint64_t{64} << 20;

constexpr uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

void dump_below(uint64_t high) noexcept {
  uint64_t below = common_state.dumped_below.load(std::memory_order_relaxed);
  while (high > below) {
    const uint64_t next = std::min(round_up(high, kDumpStep), common_state.hold.reservation_high);
    if (!common_state.dumped_below.compare_exchange_weak(below, next)) continue;
    sys_madvise(reinterpret_cast<void*>(below), next - below, MADV_DODUMP);
    return;
  }
}

uint64_t take_reserved(uint64_t bytes) noexcept {
  CommonHold& hold = common_state.hold;
  const uint64_t align = bytes >= kLarge ? kLarge : kPageBytes;
  uint64_t from = common_state.first_free.load(std::memory_order_relaxed);
  uint64_t low = round_up(from, align);
  while (low <= hold.reservation_high && bytes <= hold.reservation_high - low) {
    const uint64_t last = hold.taken.last_set(low, low + bytes);
    if (last != low + bytes) {
      low = round_up(last + kPageBytes, align);
    } else if (hold.taken.claim(low, low + bytes)) {
      if (low == from) common_state.first_free.compare_exchange_strong(from, low + bytes);
      dump_below(low + bytes);
      return low;
    }
  }
  return 0;
}

bool take_reserved_at(uint64_t low, uint64_t high) noexcept {
  CommonHold& hold = common_state.hold;
  if (!hold.taken.claim(low, high)) return false;
  hold.altered.set(low, high);
  return true;
}

namespace {

// Gives the contents back to the kernel and maps zeros, as everywhere in the reservation.
bool is_as_before(uint64_t low, uint64_t high) noexcept {
  if (!empty_file_pages(low, high)) return false;
  for (uint64_t from = low; from < high;) {
    const bool is_altered = common_state.hold.altered.has(from);
    const uint64_t end = common_state.hold.altered.run_end(from, high);
    if (is_altered && map_file_at(from, end, PROT_READ | PROT_WRITE) < 0) return false;
    from = end;
  }
  return true;
}

}  // namespace

void give_back_reserved(uint64_t low, uint64_t high) noexcept {
  CommonHold& hold = common_state.hold;
  while (low < high) {
    const uint64_t end = hold.taken.run_end(low, high);
    const bool is_taken = hold.taken.has(low);
    if (is_taken) hold.common.clear(low, end);
    if (is_taken && is_as_before(low, end)) {
      hold.altered.clear(low, end);
      hold.taken.clear(low, end);
      uint64_t first = common_state.first_free.load(std::memory_order_relaxed);
      while (low < first && !common_state.first_free.compare_exchange_weak(first, low)) {
      }
    }
    low = end;
  }
}

}  // namespace hpcrun

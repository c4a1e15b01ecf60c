#include "repair/isolate/atomics/trampoline_places.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/reservation.h"

namespace hpcrun {

namespace {

// Below this nothing is mapped (vm.mmap_min_addr is less), and near the end is memory that the kernel keeps.
constexpr uint64_t kLowest = uint64_t{1} << 20;
constexpr uint64_t kHighest = kAddressSpaceBytes - (uint64_t{1} << 20);

// Trampolines stay out of the room into which the program's break and main stack may grow.
constexpr uint64_t kRoomOfBreak = uint64_t{256} << 20;
constexpr uint64_t kRoomOfStack = uint64_t{16} << 20;

// Jumps with a wide range get adjacent places. The others, of which there are few per page, get pages of
// their own.
constexpr uint64_t kWideRange = uint64_t{1} << 16;
constexpr uint64_t kWideRoom = uint64_t{1} << 16;

// Returns the first of the sorted spans that ends above the address.
template <typename Spans>
size_t first_above(const Spans& spans, uint64_t address) noexcept {
  const auto* const found = std::partition_point(
      spans.begin(), spans.end(), [address](const auto& span) { return span.high <= address; });
  return static_cast<size_t>(found - spans.begin());
}

}  // namespace

void TrampolinePlaces::add_occupied(void* argument, const OwnMapping& mapping) noexcept {
  auto& places = *static_cast<TrampolinePlaces*>(argument);
  // Within the reservation, the table shows what is free.
  const CommonHold& hold = common_state.hold;
  const bool is_reserved =
      common_state.phase == CommonPhase::Common && hold.reserves(mapping.low) && is_common_file(mapping.name);
  if (is_reserved && mapping.high <= hold.reservation_high) return;
  Span span{mapping.low, mapping.high};
  if (!strcmp(mapping.name, "[heap]")) span.high += kRoomOfBreak;
  if (!strcmp(mapping.name, "[stack]")) span.low -= kRoomOfStack;
  auto& all = places.occupied_;
  if (all.size() && span.low <= all[all.size() - 1].high) {
    Span& last = all[all.size() - 1];
    last.high = std::max(last.high, span.high);
  } else if (!all.add(span)) {
    places.is_full_ = true;
  }
}

bool TrampolinePlaces::begin() noexcept {
  is_full_ = false;
  occupied_.cut(0);
  used_.cut(0);
  rooms_.cut(0);
  mapped_bytes_ = 0;
  for_each_mapping(add_occupied, this);
  return !is_full_ && occupied_.size() != 0;
}

uint64_t TrampolinePlaces::look_in_rooms(PlaceRange range, size_t bytes) const noexcept {
  for (size_t r = first_above(rooms_, range.low); r < rooms_.size() && rooms_[r].low <= range.high; ++r) {
    const Room& room = rooms_[r];
    const uint64_t low = std::max(room.low, range.low);
    if (range.span() >= kWideRange || room.next <= low) {
      const uint64_t at = std::max(room.next, range.low);
      if (at <= range.high && at + bytes <= room.high) return at;
      continue;
    }
    uint64_t at = low;
    for (size_t u = first_above(used_, at); u < used_.size() && used_[u].low < at + bytes; ++u)
      at = used_[u].high;
    if (at <= range.high && at + bytes <= room.high) return at;
  }
  return 0;
}

TrampolinePlaces::Found TrampolinePlaces::look_in_gaps(PlaceRange range, size_t bytes) const noexcept {
  const CommonHold& hold = common_state.hold;
  const bool has_hold = common_state.phase == CommonPhase::Common;
  uint64_t at = std::max(range.low, kLowest);
  const uint64_t high = std::min(range.high, kHighest);
  while (at <= high) {
    if (page_up(at) <= high) at = page_up(at);
    const uint64_t low_page = page_down(at);
    uint64_t high_page = page_up(at + bytes);
    const size_t next = first_above(occupied_, low_page);
    const uint64_t free_until = next < occupied_.size() ? occupied_[next].low : kHighest;
    if (free_until < high_page) {
      if (next == occupied_.size()) break;
      at = occupied_[next].high;
      continue;
    }
    if (range.span() >= kWideRange) high_page = std::min(page_down(free_until), low_page + kWideRoom);
    if (has_hold && low_page < hold.reservation_high && high_page > hold.reservation_low) {
      // Only partly within the reservation, or partly taken: continues after it.
      if (low_page < hold.reservation_low || high_page > hold.reservation_high) {
        at = low_page < hold.reservation_low ? hold.reservation_low : hold.reservation_high;
        continue;
      }
      const uint64_t taken = hold.taken.last_set(low_page, high_page);
      if (taken != high_page) {
        at = taken + kPageBytes;
        continue;
      }
    }
    return {at, low_page, high_page};
  }
  return {};
}

TrampolinePlaces::Found TrampolinePlaces::look(PlaceRange range, size_t bytes, bool may_map) const noexcept {
  if (range.is_empty()) return {};
  if (const uint64_t at = look_in_rooms(range, bytes)) return {at};
  return may_map ? look_in_gaps(range, bytes) : Found{};
}

// Maps common memory if there is any. Private memory would cost each converted thread a page of page tables
// for most of these pages.
bool TrampolinePlaces::map(uint64_t low, uint64_t high) noexcept {
  const bool is_common = common_state.phase == CommonPhase::Common;
  int flags = is_common ? MAP_SHARED | MAP_NORESERVE : MAP_PRIVATE | MAP_ANONYMOUS;
  if (is_common && common_state.hold.reserves(low)) {
    if (!take_reserved_at(low, high)) return false;
    flags |= MAP_FIXED;
  } else {
    flags |= MAP_FIXED_NOREPLACE;
  }
  void* const wanted = reinterpret_cast<void*>(low);
  void* const at =
      sys_mmap(wanted, high - low, PROT_READ | PROT_WRITE, flags, is_common ? common_state.hold.file : -1,
               is_common ? static_cast<int64_t>(low) : 0);
  if (at == wanted) {
    if (is_common) note_common(low, high, PROT_READ | PROT_EXEC);
    return true;
  }
  if (at != MAP_FAILED) sys_munmap(at, high - low);  // before Linux 4.17
  return false;
}

uint64_t TrampolinePlaces::take(PlaceRange range, size_t bytes, bool may_map) noexcept {
  for (;;) {
    const Found found = look(range, bytes, may_map);
    if (!found.at) return 0;
    if (found.map_low) {
      const Span span{found.map_low, found.map_high};
      if (!occupied_.insert(first_above(occupied_, span.low), span)) return 0;
      if (!map(span.low, span.high)) continue;  // mapped by another thread meanwhile
      if (!rooms_.insert(first_above(rooms_, span.low), {span.low, span.high, span.low})) return 0;
      mapped_bytes_ += span.high - span.low;
    }
    const Span taken{found.at, found.at + bytes};
    if (!used_.insert(first_above(used_, taken.low), taken)) return 0;
    const size_t place = first_above(rooms_, found.at);
    assert(place < rooms_.size() && rooms_[place].low <= taken.low && taken.high <= rooms_[place].high);
    Room& room = rooms_[place];
    room.next = std::max(room.next, taken.high);
    return found.at;
  }
}

bool TrampolinePlaces::finish() noexcept {
  bool is_done = true;
  for (const Room& room : rooms_)
    is_done &= raw_syscall(SYS_mprotect, static_cast<long>(room.low), static_cast<long>(room.high - room.low),
                           PROT_READ | PROT_EXEC) == 0;
  return is_done;
}

void TrampolinePlaces::give_up() noexcept {
  for (const Room& room : rooms_) {
    const bool is_common = common_state.phase == CommonPhase::Common;
    if (is_common) common_state.hold.common.clear(room.low, room.high);
    if (is_common && common_state.hold.reserves(room.low))
      give_back_reserved(room.low, room.high);
    else
      sys_munmap(reinterpret_cast<void*>(room.low), room.high - room.low);
  }
  rooms_.cut(0);
  used_.cut(0);
  mapped_bytes_ = 0;
}

}  // namespace hpcrun

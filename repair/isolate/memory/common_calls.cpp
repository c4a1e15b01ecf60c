#include "repair/isolate/memory/common_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/memory/reservation.h"
#include "repair/isolate/session/blocked_signals.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"

namespace hpcrun {

namespace {

constexpr int kPlain = PROT_READ | PROT_WRITE;
constexpr uint64_t kMaxBytes = uint64_t{256} << 30;
// Larger mappings, which programs often only reserve, do not use up the reservation.
constexpr uint64_t kMaxReservedRange = uint64_t{1} << 30;

// The flags that affect where and how memory is mapped, as far as they are known here.
constexpr int kKnownFlags = MAP_TYPE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_NORESERVE |
                            MAP_STACK | MAP_POPULATE | MAP_LOCKED | MAP_32BIT | MAP_DENYWRITE |
                            MAP_EXECUTABLE | MAP_NONBLOCK;

// As long as one lives, the memory does not count as left completely.
class Call : CommonCall {
 public:
  CommonPhase phase() const noexcept { return common_state.phase.load(std::memory_order_acquire); }
};

// Must be called before a system call that changes the address space, because it must be the program's.
void go_home() noexcept {
  if (is_converted()) give_back();
}

uint64_t number(const void* address) noexcept {
  return reinterpret_cast<uint64_t>(address);
}

long kernel_mmap(void* at, size_t bytes, int protection, int flags, int file, int64_t offset) noexcept {
  return raw_syscall(SYS_mmap, reinterpret_cast<long>(at), static_cast<long>(bytes), protection, flags, file,
                     offset);
}

bool is_error(long result) noexcept {
  return result < 0 && result > -4096;
}

bool is_range(const void* at, size_t bytes) noexcept {
  return number(at) % kPageBytes == 0 && bytes > 0 && bytes <= kAddressSpaceBytes &&
         number(at) <= kAddressSpaceBytes - bytes;
}

bool has_common(uint64_t low, uint64_t high) noexcept {
  return common_state.hold.common.has_any(low, high);
}

// Calls use(low, high, is_common) for the runs of the range.
template <typename Use>
void for_each_run(uint64_t low, uint64_t high, Use use) noexcept {
  while (low < high) {
    const uint64_t end = common_state.hold.common.run_end(low, high);
    use(low, end, common_state.hold.common.has(low));
    low = end;
  }
}

// Marks pages as not common that are about to be mapped otherwise or unmapped. In the reservation they stay
// taken.
void stop_being_common(uint64_t low, uint64_t high) noexcept {
  CommonHold& hold = common_state.hold;
  if (common_state.phase == CommonPhase::Common)
    for_each_run(low, high, [](uint64_t from, uint64_t end, bool is_common) {
      if (is_common) empty_file_pages(from, end);
    });
  hold.common.clear(low, high);
}

// The part of [low, high) in the reservation; empty if low >= high.
struct Part {
  uint64_t low, high;
};
Part in_reservation(uint64_t low, uint64_t high) noexcept {
  return {std::max(low, common_state.hold.reservation_low),
          std::min(high, common_state.hold.reservation_high)};
}

// Records that something else is mapped over our pages.
void note_foreign(uint64_t low, uint64_t high) noexcept {
  const Part part = in_reservation(low, high);
  if (part.low < part.high) common_state.hold.taken.set(part.low, part.high);
  if (!has_common(low, high) && part.low >= part.high) return;
  stop_being_common(low, high);
  common_state.hold.altered.set(low, high);
}

// Maps pages of the reservation that were taken.
long map_piece(uint64_t low, uint64_t bytes, int protection, int flags) noexcept {
  const uint64_t high = low + bytes;
  long result = 0;
  if (protection != kPlain)
    result = raw_syscall(SYS_mprotect, static_cast<long>(low), static_cast<long>(bytes), protection);
  if (!is_error(result) && (flags & MAP_LOCKED))
    result = raw_syscall(SYS_mlock, static_cast<long>(low), static_cast<long>(bytes));
  note_common(low, high, flags & MAP_LOCKED ? PROT_NONE : protection);
  if (is_error(result)) {
    common_munmap(reinterpret_cast<void*>(low), bytes);
    return result;
  }
  if ((flags & MAP_POPULATE) && (protection & PROT_WRITE))
    sys_madvise(reinterpret_cast<void*>(low), bytes, kPopulateWrite);
  return static_cast<long>(low);
}

// Maps the file over what the kernel has mapped there, or will map there (MAP_FIXED).
long map_apart(uint64_t low, uint64_t high, int protection, int flags) noexcept {
  if (!empty_file_pages(low, high)) return -EBADF;
  const long result = map_file_at(low, high, protection, flags & (MAP_POPULATE | MAP_LOCKED));
  if (is_error(result)) return result;
  const Part part = in_reservation(low, high);
  if (part.low < part.high) common_state.hold.taken.set(part.low, part.high);
  note_common(low, high, protection);
  return result;
}

// Maps common memory at an address that the program prefers if nothing is mapped there, like the kernel. Code
// generators need memory within the reach of jumps, and try one address after the other.
long map_where_wished(uint64_t low, uint64_t bytes, int protection, int flags) noexcept {
  if (!is_range(reinterpret_cast<void*>(low), bytes)) return -EINVAL;
  const uint64_t high = low + bytes;
  const Part part = in_reservation(low, high);
  if (part.low < part.high) {
    if (part.low != low || part.high != high || !common_state.hold.taken.claim(low, high)) return -EEXIST;
    dump_below(high);
    return map_piece(low, bytes, protection, flags);
  }
  go_home();
  const long at = kernel_mmap(reinterpret_cast<void*>(low), bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (is_error(at)) return at;
  const bool is_there = at == static_cast<long>(low);  // false on a kernel that ignores the flag
  const long result = is_there ? map_apart(low, high, protection, flags) : -EEXIST;
  if (is_error(result)) sys_munmap(reinterpret_cast<void*>(at), bytes);
  return result;
}

struct Seeker {
  uint64_t address;
  uint64_t high;  // the end of the mapping that contains it
  int protection;
};

void find_mapping(void* argument, const OwnMapping& mapping) noexcept {
  auto& seeker = *static_cast<Seeker*>(argument);
  if (seeker.address < mapping.low || seeker.address >= mapping.high) return;
  seeker.high = mapping.high;
  seeker.protection = protection_of(mapping);
}

Seeker mapping_at(uint64_t address) noexcept {
  BlockedSignals blocked;
  Locked locked(common_state.maps_lock);
  Seeker seeker{address, address + kPageBytes, kPlain};
  for_each_mapping(find_mapping, &seeker);
  return seeker;
}

int protection_at(uint64_t address) noexcept {
  return common_state.hold.altered.has(address) ? mapping_at(address).protection : kPlain;
}

// Maps its pages of [low, high) at any address; returns 0 on failure.
uint64_t map_view(uint64_t low, uint64_t high) noexcept {
  void* const at = sys_mmap(nullptr, high - low, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            common_state.hold.file, static_cast<int64_t>(low));
  if (at == MAP_FAILED) return 0;
  return reinterpret_cast<uint64_t>(at);
}

// Works for any protection of the old place.
void copy_contents(uint64_t from, uint64_t to, uint64_t bytes, CommonPhase phase) noexcept {
  const auto copy = [](uint64_t target, uint64_t source, uint64_t count) {
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
  };
  if (phase != CommonPhase::Common) return copy(to, from, bytes);
  const uint64_t view = map_view(from, from + bytes);
  if (!view) raw_syscall(SYS_mprotect, static_cast<long>(from), static_cast<long>(bytes), kPlain);
  const uint64_t source = view ? view : from;
  for_each_file_page_run(from, from + bytes, [&](uint64_t low, uint64_t high) {
    copy(to + (low - from), source + (low - from), high - low);
  });
  if (view) sys_munmap(reinterpret_cast<void*>(view), bytes);
}

// Grows what was mapped at `low` with the old size in place.
bool grow_in_place(uint64_t low, uint64_t old_high, uint64_t high, int protection) noexcept {
  CommonHold& hold = common_state.hold;
  if (hold.reserves(low)) {
    if (high > hold.reservation_high || !hold.taken.claim(old_high, high)) return false;
    dump_below(high);
    if (protection != kPlain)
      raw_syscall(SYS_mprotect, static_cast<long>(old_high), static_cast<long>(high - old_high), protection);
    note_common(old_high, high, protection);
    return true;
  }
  void* const wanted = reinterpret_cast<void*>(old_high);
  const long at = common_mmap(wanted, high - old_high, protection,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (is_error(at)) return false;
  if (at == static_cast<long>(old_high)) return true;
  common_munmap(reinterpret_cast<void*>(at), high - old_high);  // a kernel that ignores the flag
  return false;
}

long move_common(uint64_t low, uint64_t bytes, uint64_t new_bytes, int flags, void* new_at,
                 CommonPhase phase) noexcept {
  const int protection = protection_at(low);
  const int fixed = flags & MREMAP_FIXED ? MAP_FIXED : 0;
  const long at =
      common_mmap(fixed ? new_at : nullptr, new_bytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  if (is_error(at)) return at;
  if (phase == CommonPhase::Left && protection != kPlain)
    raw_syscall(SYS_mprotect, static_cast<long>(low), static_cast<long>(bytes), kPlain);
  copy_contents(low, static_cast<uint64_t>(at), std::min(bytes, new_bytes), phase);
  if (protection != kPlain) common_mprotect(reinterpret_cast<void*>(at), new_bytes, protection);
#ifndef MREMAP_DONTUNMAP
  constexpr int MREMAP_DONTUNMAP = 4;  // Linux 5.7
#endif
  if (flags & MREMAP_DONTUNMAP)
    common_madvise(reinterpret_cast<void*>(low), bytes, MADV_DONTNEED);
  else
    common_munmap(reinterpret_cast<void*>(low), bytes);
  return at;
}

// Maps plain private memory in place of pages whose file other processes share.
void drop_left(uint64_t low, uint64_t high) noexcept {
  while (low < high) {
    const bool is_altered = common_state.hold.altered.has(low);
    const uint64_t alike = common_state.hold.altered.run_end(low, high);
    const Seeker mapping = is_altered ? mapping_at(low) : Seeker{low, alike, kPlain};
    const uint64_t end = std::min(alike, mapping.high);
    kernel_mmap(reinterpret_cast<void*>(low), end - low, mapping.protection,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    common_state.hold.common.clear(low, end);
    low = end;
  }
}

long keep_private(uint64_t low, uint64_t high, int advice) noexcept {
  const long plain = kernel_mmap(nullptr, high - low, kPlain, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(plain)) return plain;
  copy_contents(low, static_cast<uint64_t>(plain), high - low, common_state.phase);
  const long moved =
      raw_syscall(SYS_mremap, plain, static_cast<long>(high - low), static_cast<long>(high - low),
                  MREMAP_MAYMOVE | MREMAP_FIXED, static_cast<long>(low));
  if (is_error(moved)) return moved;
  const int protection = protection_at(low);
  stop_being_common(low, high);
  common_state.hold.altered.set(low, high);
  if (protection != kPlain)
    raw_syscall(SYS_mprotect, static_cast<long>(low), static_cast<long>(high - low), protection);
  return sys_madvise(reinterpret_cast<void*>(low), high - low, advice);
}

}  // namespace

long common_mmap(void* at, size_t bytes, int protection, int flags, int file, int64_t offset) noexcept {
  const Call call;
  const CommonPhase phase = call.phase();
  const uint64_t low = number(at), size = page_up(bytes);
  const bool is_at = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  const bool is_fixed = flags & MAP_FIXED;
  // True for requests of allocators. If the first allocator has blocks in a range, the second one must have
  // none there.
  const bool may_be_for_blocks =
      has_earlier_memory() && protection == kPlain && bytes > 0 && size >= bytes && size <= kMaxBytes &&
      (flags & ~(MAP_NORESERVE | MAP_FIXED | MAP_FIXED_NOREPLACE)) == (MAP_PRIVATE | MAP_ANONYMOUS);
  const auto by_kernel = [&] {
    go_home();
    if (may_be_for_blocks && !is_at) return map_apart_from_earlier(bytes, protection, flags);
    return kernel_mmap(at, bytes, protection, flags, file, offset);
  };
  if (phase == CommonPhase::None || !bytes || size < bytes || (is_fixed && !is_range(at, size)))
    return by_kernel();

  const bool is_ours = phase == CommonPhase::Common && (flags & MAP_TYPE) == MAP_PRIVATE &&
                       (flags & MAP_ANONYMOUS) && !(flags & ~kKnownFlags) && size <= kMaxBytes;
  const bool is_plain = protection == kPlain && !(flags & (MAP_LOCKED | MAP_POPULATE));
  if (!is_ours || !is_plain) go_home();
  if (!is_ours) {
    if ((flags & MAP_TYPE) == MAP_PRIVATE && (protection & PROT_WRITE)) note_private_memory();
    const long result = by_kernel();
    if (!is_error(result) && is_fixed) note_foreign(low, low + size);
    return result;
  }
  const bool has_wish = at && !is_at && !(flags & MAP_32BIT);
  if (has_wish && !(may_be_for_blocks && reaches_earlier(low, low + size))) {
    const long result = map_where_wished(page_up(low), size, protection, flags);
    if (!is_error(result)) return result;
  }
  const bool is_only_reserved = protection == PROT_NONE && size > kMaxReservedRange;
  if (!is_at && !is_only_reserved && !(flags & MAP_32BIT)) {
    const uint64_t piece = take_reserved(size);
    const long result = piece ? map_piece(piece, size, protection, flags) : -ENOMEM;
    if (!is_error(result)) return result;
  }
  go_home();
  // Address space that the program has released and regards as free.
  const Part part = in_reservation(low, low + size);
  if ((flags & MAP_FIXED_NOREPLACE) && part.low == low && part.high == low + size && low % kPageBytes == 0)
    return common_state.hold.taken.claim(low, low + size) ? map_piece(low, size, protection, flags) : -EEXIST;

  const long result = is_fixed ? static_cast<long>(low) : by_kernel();
  if (is_error(result)) return result;
  const auto place = static_cast<uint64_t>(result);
  if (!is_error(map_apart(place, place + size, protection, flags)) || !is_fixed) return result;
  // Private if the file cannot be mapped.
  const long plain = by_kernel();
  if (!is_error(plain)) note_foreign(low, low + size);
  return plain;
}

long common_munmap(void* at, size_t bytes) noexcept {
  const Call call;
  const uint64_t low = number(at), high = low + page_up(bytes);
  const auto by_kernel = [&](uint64_t from, uint64_t end) {
    return sys_munmap(reinterpret_cast<void*>(from), end - from);
  };
  if (call.phase() == CommonPhase::None || !is_range(at, page_up(bytes))) return sys_munmap(at, bytes);

  const Part part = in_reservation(low, high);
  const bool is_plain = part.low == low && part.high == high && !common_state.hold.altered.has_any(low, high);
  if (!is_plain || call.phase() == CommonPhase::Left) go_home();
  if (call.phase() == CommonPhase::Left || part.low >= part.high) {
    if (has_common(low, high)) stop_being_common(low, high);
    return by_kernel(low, high);
  }
  if (part.low > low) {
    stop_being_common(low, part.low);
    by_kernel(low, part.low);
  }
  if (high > part.high) {
    stop_being_common(part.high, high);
    by_kernel(part.high, high);
  }
  give_back_reserved(part.low, part.high);
  return 0;
}

long common_mprotect(void* at, size_t bytes, int protection) noexcept {
  const Call call;
  if ((protection & PROT_WRITE) && !is_common(at)) note_private_memory();
  go_home();
  const long result =
      raw_syscall(SYS_mprotect, reinterpret_cast<long>(at), static_cast<long>(bytes), protection);
  if (result == 0) common_protection_changed(at, bytes);
  return result;
}

void common_protection_changed(void* at, size_t bytes) noexcept {
  const Call call;
  const uint64_t low = number(at), high = low + page_up(bytes);
  if (call.phase() != CommonPhase::None && is_range(at, page_up(bytes)) && has_common(low, high))
    common_state.hold.altered.set(low, high);
}

long common_mremap(void* at, size_t bytes, size_t new_bytes, int flags, void* new_at) noexcept {
  const Call call;
  const CommonPhase phase = call.phase();
  const uint64_t low = number(at), old_size = page_up(bytes), new_size = page_up(new_bytes);
  const bool is_fixed = flags & MREMAP_FIXED;
  go_home();
  const bool is_known =
      phase != CommonPhase::None && is_range(at, old_size) && new_size >= new_bytes && new_size > 0;
  if (!is_known || !has_common(low, low + old_size)) {
    const long result = raw_syscall(SYS_mremap, reinterpret_cast<long>(at), static_cast<long>(bytes),
                                    static_cast<long>(new_bytes), flags, reinterpret_cast<long>(new_at));
    if (is_known && !is_error(result) && is_fixed) note_foreign(number(new_at), number(new_at) + new_size);
    return result;
  }
  if (is_fixed) {
    const bool overlaps = number(new_at) < low + old_size && low < number(new_at) + new_size;
    if (!(flags & MREMAP_MAYMOVE) || !is_range(new_at, new_size) || overlaps) return -EINVAL;
    return move_common(low, old_size, new_size, flags, new_at, phase);
  }
  if (new_size <= old_size) {
    if (new_size < old_size) common_munmap(reinterpret_cast<void*>(low + new_size), old_size - new_size);
    return static_cast<long>(low);
  }
  if (phase == CommonPhase::Common && grow_in_place(low, low + old_size, low + new_size, protection_at(low)))
    return static_cast<long>(low);
  if (!(flags & MREMAP_MAYMOVE)) return -ENOMEM;
  return move_common(low, old_size, new_size, flags, nullptr, phase);
}

namespace {

// True if common memory, which is backed by a file, gets huge pages when a program requests them.
bool has_huge_pages_by_advice() noexcept {
  constexpr const char* kSetting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(kSetting), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[128] = {};  // always within_size [advise] never deny force
  raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  return strstr(text, "[always]") || strstr(text, "[within_size]") || strstr(text, "[advise]") ||
         strstr(text, "[force]");
}

}  // namespace

long common_madvise(void* at, size_t bytes, int advice) noexcept {
  const Call call;
  const CommonPhase phase = call.phase();
  const uint64_t low = number(at), high = low + page_up(bytes);
  const bool is_plain = phase == CommonPhase::Common && (advice == MADV_DONTNEED || advice == MADV_FREE) &&
                        is_range(at, page_up(bytes)) && common_state.hold.common.run_end(low, high) == high &&
                        is_common(at);
  if (!is_plain) go_home();
  if (phase == CommonPhase::None || !is_range(at, page_up(bytes)) || !has_common(low, high))
    return sys_madvise(at, bytes, advice);
  long result = 0;
  switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
      for_each_run(low, high, [&](uint64_t from, uint64_t end, bool is_common) {
        if (!is_common) {
          const long one = sys_madvise(reinterpret_cast<void*>(from), end - from, advice);
          if (one < 0) result = one;
        } else if (phase == CommonPhase::Common) {
          empty_file_pages(from, end);
        } else {
          drop_left(from, end);
        }
      });
      return result;
    case MADV_WIPEONFORK:
      for_each_run(low, high, [&](uint64_t from, uint64_t end, bool is_common) {
        const long one = is_common ? keep_private(from, end, advice)
                                   : sys_madvise(reinterpret_cast<void*>(from), end - from, advice);
        if (one < 0) result = one;
      });
      return result;
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
      // A hint without visible effect. The kernel would split mappings for it.
      for_each_run(low, high, [&](uint64_t from, uint64_t end, bool is_common) {
        if (is_common && phase == CommonPhase::Common && !has_huge_pages_by_advice()) return;
        const long one = sys_madvise(reinterpret_cast<void*>(from), end - from, advice);
        if (one < 0) result = one;
      });
      return result;
    default:
      // Most of them change the mapping.
      common_state.hold.altered.set(low, high);
      return sys_madvise(at, bytes, advice);
  }
}

long common_mlockall(int flags) noexcept {
  go_home();
  const bool has_reservation =
      common_state.phase.load(std::memory_order_acquire) != CommonPhase::None || is_common_awaited();
  return raw_syscall(SYS_mlockall, has_reservation ? flags | MCL_ONFAULT : flags);
}

void common_break_moved(const void* before, const void* now) noexcept {
  const Call call;
  if (call.phase() == CommonPhase::None) return;
  go_home();
  const uint64_t old_end = page_up(number(before)), new_end = page_up(number(now));
  if (new_end < old_end) stop_being_common(new_end, old_end);
  if (new_end > old_end && call.phase() == CommonPhase::Common) map_apart(old_end, new_end, kPlain, 0);
}

void common_stack_limit_changed(uint64_t bytes) noexcept {
  const Call call;
  constexpr uint64_t kUnlimited = uint64_t{1} << 30;
  const uint64_t low = common_state.stack_low, high = common_state.stack_high;
  const uint64_t wanted = high - page_up(std::min(bytes, kUnlimited));
  if (call.phase() != CommonPhase::Common || wanted >= low) return;
  go_home();
  const long at = common_mmap(reinterpret_cast<void*>(wanted), low - wanted, kPlain,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == static_cast<long>(wanted)) common_state.stack_low = wanted;
}

}  // namespace hpcrun

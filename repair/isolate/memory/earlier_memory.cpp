#include "repair/isolate/memory/earlier_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>

#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/blocked_signals.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/contract/pages.h"

namespace hpcrun {

namespace {

constexpr uint64_t kPieces = kAddressSpaceBytes / kPieceBytes;
constexpr uint64_t kBits = 64;

// One bit for each piece of the address space. Written once; before that all are clear.
constinit uint64_t earlier[kPieces / kBits];
constinit std::atomic<bool> is_begun{false};

struct Piece {
  uint64_t low, high;
};
constexpr uint32_t kMaxKept = 64;
constinit Piece kept[kMaxKept];  // by map_for_later()
constinit uint32_t kept_count = 0;

uint64_t piece_down(uint64_t address) noexcept {
  return address / kPieceBytes * kPieceBytes;
}
uint64_t piece_up(uint64_t address) noexcept {
  return piece_down(address + kPieceBytes - 1);
}

bool is_set(uint64_t piece) noexcept {
  return earlier[piece / kBits] >> (piece % kBits) & 1;
}

void unmap(uint64_t low, uint64_t high) noexcept {
  if (low < high) sys_munmap(reinterpret_cast<void*>(low), high - low);
}

long map(uint64_t low, uint64_t bytes, int protection, int flags) noexcept {
  return raw_syscall(SYS_mmap, static_cast<long>(low), static_cast<long>(bytes), protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

// Maps unused pages at the start of a piece, with the rest of their last piece. Returns 0 if there are none.
uint64_t set_aside(uint64_t bytes) noexcept {
  constexpr int kMaxTries = 32;
  const uint64_t room = piece_up(bytes) + kPieceBytes;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const long at = map(0, room, PROT_NONE, MAP_NORESERVE);
    if (at < 0 && at > -4096) return 0;
    const uint64_t begin = static_cast<uint64_t>(at), low = piece_up(begin), high = low + piece_up(bytes);
    if (reaches_earlier(low, high)) continue;  // it stays mapped, so that the kernel chooses another place
    unmap(begin, low);
    unmap(high, begin + room);
    return low;
  }
  return 0;
}

struct Noted {
  uint64_t low, high;  // excluded
  bool has_any = false;
};

void set_earlier(uint64_t low, uint64_t high) noexcept {
  for (uint64_t piece = low / kPieceBytes; piece * kPieceBytes < high && piece < kPieces; ++piece)
    earlier[piece / kBits] |= uint64_t{1} << (piece % kBits);
}

void note(void* argument, const OwnMapping& mapping) noexcept {
  auto& noted = *static_cast<Noted*>(argument);
  noted.has_any = true;
  // A mapping of common memory may extend into what is excluded.
  if (mapping.low < noted.low) set_earlier(mapping.low, mapping.high < noted.low ? mapping.high : noted.low);
  if (mapping.high > noted.high)
    set_earlier(mapping.low > noted.high ? mapping.low : noted.high, mapping.high);
}

}  // namespace

bool has_earlier_memory() noexcept {
  return is_begun.load(std::memory_order_relaxed);
}

bool is_earlier(const void* address) noexcept {
  const auto at = reinterpret_cast<uint64_t>(address);
  return at < kAddressSpaceBytes && is_set(at / kPieceBytes);
}

bool reaches_earlier(uint64_t low, uint64_t high) noexcept {
  for (uint64_t piece = low / kPieceBytes; piece * kPieceBytes < high && piece < kPieces; ++piece)
    if (is_set(piece)) return true;
  return false;
}

long map_for_later(uint64_t bytes) noexcept {
  if (kept_count == kMaxKept) return -ENOMEM;
  const uint64_t low = set_aside(bytes);
  if (!low) return -ENOMEM;
  // The rest of the last piece stays mapped, so that nothing else is mapped there.
  const long result = map(low, page_up(bytes), PROT_READ | PROT_WRITE, MAP_FIXED | MAP_NORESERVE);
  if (result > 0) kept[kept_count++] = {low, low + piece_up(bytes)};
  return result;
}

bool begin_earlier_memory(uint64_t low, uint64_t high) noexcept {
  if (is_begun.load()) return true;
  Noted noted{low, high};
  {
    BlockedSignals blocked;
    Locked locked(common_state.maps_lock);
    for_each_mapping(note, &noted);
  }
  if (!noted.has_any) return false;
  for (uint32_t i = 0; i < kept_count; ++i)
    for (uint64_t piece = kept[i].low / kPieceBytes; piece * kPieceBytes < kept[i].high; ++piece)
      earlier[piece / kBits] &= ~(uint64_t{1} << (piece % kBits));
  is_begun.store(true);
  return true;
}

namespace {

// Maps next to existing mappings, so that their number does not grow. Earlier memory stays mapped and is not
// found again.
long map_small_apart(uint64_t bytes, int protection, int flags) noexcept {
  constexpr int kMaxTries = 16;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const long at = map(0, bytes, protection, flags);
    const auto begin = static_cast<uint64_t>(at);
    if ((at < 0 && at > -4096) || !reaches_earlier(begin, begin + bytes)) return at;
    map(begin, bytes, PROT_NONE, MAP_FIXED | MAP_NORESERVE);
  }
  return -ENOMEM;
}

}  // namespace

long map_apart_from_earlier(uint64_t bytes, int protection, int flags) noexcept {
  if (bytes < kPieceBytes)
    if (const long at = map_small_apart(bytes, protection, flags); at >= 0 || at <= -4096) return at;
  const uint64_t low = set_aside(bytes);
  if (!low) {
    // There may be room for exactly this size.
    const long at = map(0, bytes, protection, flags);
    const auto begin = static_cast<uint64_t>(at);
    if ((at < 0 && at > -4096) || !reaches_earlier(begin, begin + bytes)) return at;
    unmap(begin, begin + page_up(bytes));
    return -ENOMEM;
  }
  const long result = map(low, page_up(bytes), protection, MAP_FIXED | flags);
  const bool is_mapped = result == static_cast<long>(low);
  unmap(is_mapped ? low + page_up(bytes) : low, low + piece_up(bytes));
  return result;
}

}  // namespace hpcrun

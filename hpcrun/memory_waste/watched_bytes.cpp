#include "hpcrun/memory_waste/watched_bytes.h"

#include <algorithm>
#include <bit>

namespace hpcrun {

namespace {

ByteMask changed_bytes(const WatchedBytes& watched, const uint8_t* now) noexcept {
  unsigned changed = 0;
  for (uint8_t i = 0; i < watched.count; ++i)
    changed |= static_cast<unsigned>(now[i] != watched.value[i]) << i;
  return static_cast<ByteMask>(changed);
}

bool stores(Touch touch) noexcept {
  return touch == Touch::Store || touch == Touch::LoadAndStore;
}

Decision decide_dead(Touch touch, ByteMask touched) noexcept {
  if (touch == Touch::Store) return {.wasted = touched};
  return {.used = touched};
}

// A silent access is compared as a whole: it changes all of its bytes if it changes one.
Decision decide_silent(Touch touch, ByteMask touched, ByteMask changed) noexcept {
  if (!stores(touch)) return {};
  if (touched & changed) return {.used = touched};
  return {.wasted = touched};
}

// As with silent stores, a store changes all of its bytes if it changes one. A load returns what it does
// before the store of the same instruction. No earlier store has changed the bytes, or they would be decided.
Decision decide_redundant(Touch touch, ByteMask touched, ByteMask changed) noexcept {
  if (touch == Touch::LoadAndStore) return {.wasted = touched};
  if (touch == Touch::Load)
    return (touched & changed) ? Decision{.used = touched} : Decision{.wasted = touched};
  if (touch == Touch::Store && touched & changed) return {.used = touched};
  return {};
}

}  // namespace

ByteMask overlap(const WatchedBytes& watched, uint64_t address, uint64_t bytes) noexcept {
  unsigned mask = 0;
  for (uint8_t i = 0; i < watched.count; ++i)
    mask |= static_cast<unsigned>(watched.address + i - address < bytes) << i;
  return static_cast<ByteMask>(mask);
}

Decision decide(WatchedBytes& watched, Touch touch, ByteMask touched, const uint8_t* now) noexcept {
  if (touch == Touch::Unknown) return {.is_lost = true};
  touched &= watched.left;
  if (!touched) return {};
  const ByteMask changed = changed_bytes(watched, now);
  const Decision decision = watched.kind == WasteKind::DeadStore ? decide_dead(touch, touched)
                            : watched.kind == WasteKind::SilentStore
                                ? decide_silent(touch, touched, changed)
                                : decide_redundant(touch, touched, changed);
  watched.left &= static_cast<ByteMask>(~(decision.wasted | decision.used));
  return decision;
}

uint64_t represented_bytes(const WatchedBytes& watched, ByteMask bytes) noexcept {
  const auto some = static_cast<uint64_t>(std::popcount(bytes));
  return (some * watched.access_bytes + watched.count / 2) / watched.count;
}

WatchedBytes choose_piece(WasteKind kind, uint64_t address, uint16_t bytes, uint64_t random) noexcept {
  const uint64_t chosen = address + random % bytes;
  const uint64_t word = chosen & ~uint64_t{kMaxWatchedBytes - 1};
  const uint64_t begin = std::max(word, address);
  const uint64_t end = std::min(word + kMaxWatchedBytes, address + bytes);
  WatchedBytes piece;
  piece.address = begin;
  piece.kind = kind;
  piece.count = static_cast<uint8_t>(end - begin);
  piece.left = all_bytes(piece.count);
  piece.access_bytes = bytes;
  return piece;
}

BreakpointRange range_of(const WatchedBytes& watched) noexcept {
  const uint64_t end = watched.address + watched.count;
  uint8_t length = 1;
  while ((watched.address & ~uint64_t{length - 1u}) + length < end) length = static_cast<uint8_t>(length * 2);
  return {watched.address & ~uint64_t{length - 1u}, length};
}

}  // namespace hpcrun

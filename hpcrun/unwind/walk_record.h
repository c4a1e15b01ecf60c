#pragma once
// What the result of a walk depends on: where it began, the words of the stack that it read, and the modules
// that were loaded. The walk is a function of these; where they are the same, so is the path, and it need not
// be walked again. Async-signal-safe.

#include <cstdint>
#include <cstring>

namespace hpcrun {

// Where a walk begins.
struct WalkOrigin {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;
};

struct WalkedWord {
  uint64_t value;
  uint32_t offset;     // from the stack pointer at which the walk began
  uint32_t is_return;  // a return address; otherwise a frame pointer that a caller's frame is found by
};

// Walks that need another kind of information, or more of it, are not complete, and not to be relied on.
struct WalkRecord {
  static constexpr uint32_t kMostWords = 192;

  WalkOrigin origin;
  uint32_t generation;  // walk_generation()
  uint32_t count;
  bool is_complete;
  bool uses_bp;  // the one that the walk began with
  WalkedWord words[kMostWords];
};

// Do the words hold what they held? The stack above `sp` is the one on which they were recorded.
inline bool words_are_the_same(const WalkedWord* words, uint32_t count, uint64_t sp) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t now;
    std::memcpy(&now, reinterpret_cast<const void*>(sp + words[i].offset), sizeof now);
    if (now != words[i].value) return false;
  }
  return true;
}

}  // namespace hpcrun

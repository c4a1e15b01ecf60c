#pragma once
// Records what the result of a walk depends on: its origin, the words of the stack that it read, and the
// loaded modules. A walk is a function of these. If they are unchanged, the path is too, and need not be
// walked again. Async-signal-safe.

#include <cstdint>
#include <cstring>

namespace hpcrun {

// The registers with which a walk begins.
struct WalkOrigin {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;
};

struct WalkedWord {
  uint64_t value;
  uint32_t offset;     // from the stack pointer in the origin
  uint32_t is_return;  // a return address; otherwise a frame pointer that locates a caller's frame
};

// A walk that needs other kinds of information, or more than kMaxWords, is not complete and must not be
// reused.
struct WalkRecord {
  static constexpr uint32_t kMaxWords = 192;

  WalkOrigin origin;
  uint32_t generation;  // walk_generation()
  uint32_t count;
  bool is_complete;
  bool uses_bp;  // the origin's
  WalkedWord words[kMaxWords];
};

// True if the words are unchanged. The stack above `sp` must be the one on which they were recorded.
[[nodiscard]] inline bool words_are_the_same(const WalkedWord* words, uint32_t count, uint64_t sp) noexcept {
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t now;
    std::memcpy(&now, reinterpret_cast<const void*>(sp + words[i].offset), sizeof now);
    if (now != words[i].value) return false;
  }
  return true;
}

}  // namespace hpcrun

#pragma once
// Numbers the names of what devices execute: equal names have equal numbers. One user at a time. Not for
// handlers.

#include <cstdint>

#include "hpcrun/guest/arena.h"

namespace hpcrun {

class Names {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Returns the number of a name, from 0 in order of first use, or kNone if there is no memory. `is_new` is
  // set if this is the first use. `kept` is a copy that stays as long as the arena.
  uint32_t number_of(Arena& arena, const char* name, bool& is_new, const char** kept = nullptr) noexcept;

  // True if the names are equal. Names longer than kMaxBytes are compared by their beginning only.
  static bool are_equal(const char* a, const char* b) noexcept;

 private:
  struct Entry {
    const char* name;
    uint64_t hash;
    uint32_t number;
  };
  Entry* find(uint64_t hash, const char* name) noexcept;
  bool grow(Arena& arena) noexcept;

  Entry* entries_ = nullptr;  // open addressing, never more than half full
  uint32_t room_ = 0;
  uint32_t count_ = 0;
};

}  // namespace hpcrun

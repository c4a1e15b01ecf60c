#pragma once
// Merges a converted thread's private page with the common one (TMI, sections 2.2 and 3.3; SHERIFF, section
// 3.2). One pass leaves page and base equal to a single reading of the common page:
//
// 1. Each piece of the common page is read once, and page and base are refreshed from that reading. With two
//    readings, another thread's merge between them would look like a store of this thread. It would be stored
//    again, and undo later stores of other threads.
// 2. Bytes that differ from the base were stored by this thread. Only these reach the common page; other
//    threads may have stored to the rest of the word meanwhile.
// 3. A word of which some bytes differ is replaced in one step. A reader of the common page therefore gets an
//    aligned value that one thread writes either entirely or not at all. (If two threads write a value at
//    once, its bytes may still be mixed: TMI, figure 3. Private pages do not hold such data.)
//
// The first pass over a page without stores reads three times its size and stores nothing.
//
// Common is how the common page is accessed. Accesses happen in the order of these calls:
//   Block load(size_t offset);                                       // of kBlockBytes, each word at once
//   void store(size_t offset, uint64_t word);                        // at once
//   bool exchange(size_t offset, uint64_t& seen, uint64_t word);     // compares and exchanges a word at once
// Tests supply one that tries every order in which threads' accesses can interleave.

#include <emmintrin.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hpcrun {

constexpr size_t kBlockBytes = 16;
using Block = __m128i;

// Returns a mask with a bit set for each equal byte.
inline uint32_t same_bytes(Block one, Block other) noexcept {
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)));
}
constexpr uint32_t kAllSame = (1u << kBlockBytes) - 1;

// Returns 0xff in each byte that differs, else 0.
inline uint64_t changed_bytes(uint64_t now, uint64_t before) noexcept {
  constexpr uint64_t kLow = 0x0101010101010101u;
  uint64_t any = now ^ before;
  any |= any >> 4;
  any |= any >> 2;
  any |= any >> 1;
  return (any & kLow) * 0xff;
}

// Merges one word. Returns its new value on the common page.
template <class Common>
inline uint64_t merge_word(Common& common, size_t offset, uint64_t now, uint64_t base,
                           uint64_t seen) noexcept {
  const uint64_t changed = changed_bytes(now, base);
  if (changed == 0) return seen;
  if (changed == ~uint64_t{0}) {
    common.store(offset, now);
    return now;
  }
  for (;;) {
    const uint64_t merged = (seen & ~changed) | (now & changed);
    if (common.exchange(offset, seen, merged)) return merged;
  }
}

// Merges `bytes` bytes. `page` and `base` are the thread's own and must not be accessed otherwise meanwhile.
// They must be aligned to kBlockBytes, and `bytes` must be a multiple of it. Returns the number of words that
// reached the common page. Async-signal-safe, but must not be called for the same page in a handler that
// interrupted it.
template <class Common>
inline uint32_t merge(Common& common, std::byte* page, std::byte* base, size_t bytes) noexcept {
  assert((reinterpret_cast<uintptr_t>(page) | reinterpret_cast<uintptr_t>(base) | bytes) % kBlockBytes == 0);
  uint32_t words = 0;
  for (size_t offset = 0; offset < bytes; offset += kBlockBytes) {
    const Block seen = common.load(offset);
    auto* const mine = reinterpret_cast<Block*>(page + offset);
    auto* const before = reinterpret_cast<Block*>(base + offset);
    const Block now = _mm_load_si128(mine);
    const Block then = _mm_load_si128(before);
    if (same_bytes(now, then) == kAllSame) [[likely]] {
      if (same_bytes(seen, then) == kAllSame) [[likely]]
        continue;
      _mm_store_si128(mine, seen);
      _mm_store_si128(before, seen);
      continue;
    }
    uint64_t merged[2], written[2], known[2];
    _mm_storeu_si128(reinterpret_cast<Block*>(merged), seen);
    _mm_storeu_si128(reinterpret_cast<Block*>(written), now);
    _mm_storeu_si128(reinterpret_cast<Block*>(known), then);
    for (size_t w = 0; w < 2; ++w) {
      words += written[w] != known[w];
      merged[w] = merge_word(common, offset + w * sizeof(uint64_t), written[w], known[w], merged[w]);
    }
    const Block result = _mm_loadu_si128(reinterpret_cast<const Block*>(merged));
    _mm_store_si128(mine, result);
    _mm_store_si128(before, result);
  }
  return words;
}

}  // namespace hpcrun

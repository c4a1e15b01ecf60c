#pragma once
// How a page that a converted thread has for itself is merged with the common one (TMI, sections 2.2 and 3.3;
// SHERIFF, section 3.2), in one pass that leaves page and base as what was seen of the common page once:
//
// 1. Each piece of the common page is read once. Page and base are refreshed from that reading: had they two,
//    another thread's merge between them would look like a store of this one's, and be made again, and undo
//    what others stored since.
// 2. What differs from the base was stored by this thread. Only such bytes reach the common page; others of
//    the same word may have been stored by others since.
// 3. A word of which some bytes differ is replaced in one step, so that whoever looks at the common page sees
//    an aligned value that one thread writes as it was written, never half of it. (Of values that two threads
//    write at once the bytes may still be mixed: TMI, figure 3. Such are no data of private pages.)
//
// The first pass over a page that nobody wrote to reads three times its size and stores nothing.
//
// Common is how the common page is accessed, the order of the calls being that of the accesses: by
//   Block load(size_t offset);                                       // of kBlockBytes, each word at once
//   void store(size_t offset, uint64_t word);                        // at once
//   bool exchange(size_t offset, uint64_t& seen, uint64_t word);     // compares and exchanges a word at once
// tests give one that tries every order in which threads' accesses can follow each other.

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hpcrun {

constexpr size_t kBlockBytes = 16;
using Block = __m128i;

// A bit for each byte that is the same.
inline uint32_t same_bytes(Block one, Block other) noexcept {
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)));
}
constexpr uint32_t kAllSame = (1u << kBlockBytes) - 1;

// 0xff in each byte in which they differ.
inline uint64_t changed_bytes(uint64_t now, uint64_t before) noexcept {
  constexpr uint64_t kLow = 0x0101010101010101u;
  uint64_t any = now ^ before;
  any |= any >> 4;
  any |= any >> 2;
  any |= any >> 1;
  return (any & kLow) * 0xff;
}

// The word as it is on the common page afterwards.
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

// `page` and `base` are the thread's own, `bytes` long, aligned to and a multiple of kBlockBytes; nobody else
// accesses them meanwhile. Returns how many words reached the common page. Async-signal-safe, but not within
// itself for the same page.
template <class Common>
inline uint32_t merge(Common& common, std::byte* page, std::byte* base, size_t bytes) noexcept {
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

#pragma once
// Finds the parts of a private page that have to be merged (merge.h). At most commits, most of the page is
// unchanged.

#include <immintrin.h>

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Which stores a commit searches: those of the thread, before it releases; those of others, after it
// acquired; or both.
enum class Stores : uint8_t { Own, Others, All };

constexpr size_t kScanBytes = 64;

// Returns the offset, at or after `from`, of the first kScanBytes that differ between page and base (Own),
// base and common page (Others), or any two (All); `bytes` if there is none. All are aligned to kScanBytes,
// and `bytes` is a multiple of it. The common page may change meanwhile.
template <Stores stores>
inline size_t next_to_merge(const std::byte* page, const std::byte* base, const std::byte* common,
                            size_t from, size_t bytes) noexcept {
  assert((from | bytes) % kScanBytes == 0);
  for (size_t at = from; at < bytes; at += kScanBytes) {
    __m128i all = _mm_set1_epi8(-1);
    for (size_t part = 0; part < kScanBytes; part += sizeof(__m128i)) {
      const auto load = [&](const std::byte* from_page) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(from_page + at + part));
      };
      const __m128i then = load(base);
      if constexpr (stores != Stores::Others) all = _mm_and_si128(all, _mm_cmpeq_epi8(load(page), then));
      if constexpr (stores != Stores::Own) all = _mm_and_si128(all, _mm_cmpeq_epi8(load(common), then));
    }
    if (_mm_movemask_epi8(all) != 0xffff) return at;
  }
  return bytes;
}

// The same for processors with AVX2 (has_wide_scan()).
template <Stores stores>
[[gnu::target("avx2")]] inline size_t next_to_merge_wide(const std::byte* page, const std::byte* base,
                                                         const std::byte* common, size_t from,
                                                         size_t bytes) noexcept {
  assert((from | bytes) % kScanBytes == 0);
  for (size_t at = from; at < bytes; at += kScanBytes) {
    __m256i differ = _mm256_setzero_si256();
    for (size_t part = 0; part < kScanBytes; part += sizeof(__m256i)) {
      const auto load = [&](const std::byte* from_page) __attribute__((target("avx2"))) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(from_page + at + part));
      };
      const __m256i then = load(base);
      if constexpr (stores != Stores::Others)
        differ = _mm256_or_si256(differ, _mm256_xor_si256(load(page), then));
      if constexpr (stores != Stores::Own)
        differ = _mm256_or_si256(differ, _mm256_xor_si256(load(common), then));
    }
    if (!_mm256_testz_si256(differ, differ)) return at;
  }
  return bytes;
}

// The same for processors with AVX-512 (has_widest_scan()), whose caches deliver a whole line at once.
template <Stores stores>
[[gnu::target("avx512f")]] inline size_t next_to_merge_widest(const std::byte* page, const std::byte* base,
                                                              const std::byte* common, size_t from,
                                                              size_t bytes) noexcept {
  assert((from | bytes) % kScanBytes == 0);
  const auto add_difference = [&](__m512i & differ, size_t at) __attribute__((target("avx512f"))) {
    constexpr int kOrDiffer = 0xf6;  // a | (b ^ c), bit by bit
    const __m512i then = _mm512_load_si512(base + at);
    if constexpr (stores != Stores::Others)
      differ = _mm512_ternarylogic_epi64(differ, then, _mm512_load_si512(page + at), kOrDiffer);
    if constexpr (stores != Stores::Own)
      differ = _mm512_ternarylogic_epi64(differ, then, _mm512_load_si512(common + at), kOrDiffer);
  };
  constexpr size_t kLines = 4;  // checked by one branch
  size_t at = from;
  for (; at + kLines * kScanBytes <= bytes; at += kLines * kScanBytes) {
    __m512i even = _mm512_setzero_si512(), odd = even;
    add_difference(even, at);
    add_difference(odd, at + kScanBytes);
    add_difference(even, at + 2 * kScanBytes);
    add_difference(odd, at + 3 * kScanBytes);
    const __m512i differ = _mm512_or_si512(even, odd);
    if (_mm512_test_epi64_mask(differ, differ)) break;
  }
  for (; at < bytes; at += kScanBytes) {
    __m512i differ = _mm512_setzero_si512();
    add_difference(differ, at);
    if (_mm512_test_epi64_mask(differ, differ)) return at;
  }
  return bytes;
}

inline bool has_wide_scan() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}
inline bool has_widest_scan() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f");
}

}  // namespace hpcrun

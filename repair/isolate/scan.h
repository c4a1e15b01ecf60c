#pragma once
// Finds what of a private page has to be merged (merge.h): most of it is, at most commits, as it was.

#include <immintrin.h>

#include <cstddef>

namespace hpcrun {

constexpr size_t kScanBytes = 64;

// Where from `from` on the first kScanBytes are in which page, base and common page are not all the same; or
// `bytes`. All are aligned to and `bytes` is a multiple of kScanBytes. The common page may change meanwhile.
inline size_t next_to_merge(const std::byte* page, const std::byte* base, const std::byte* common,
                            size_t from, size_t bytes) noexcept {
  for (size_t at = from; at < bytes; at += kScanBytes) {
    __m128i all = _mm_set1_epi8(-1);
    for (size_t part = 0; part < kScanBytes; part += sizeof(__m128i)) {
      const auto load = [&](const std::byte* from_page) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(from_page + at + part));
      };
      const __m128i then = load(base);
      all = _mm_and_si128(
          all, _mm_and_si128(_mm_cmpeq_epi8(load(page), then), _mm_cmpeq_epi8(load(common), then)));
    }
    if (_mm_movemask_epi8(all) != 0xffff) return at;
  }
  return bytes;
}

// The same for processors that have AVX2 (has_wide_scan()).
[[gnu::target("avx2")]] inline size_t next_to_merge_wide(const std::byte* page, const std::byte* base,
                                                         const std::byte* common, size_t from,
                                                         size_t bytes) noexcept {
  for (size_t at = from; at < bytes; at += kScanBytes) {
    const auto load = [&](const std::byte* from_page, size_t part) __attribute__((target("avx2"))) {
      return _mm256_load_si256(reinterpret_cast<const __m256i*>(from_page + at + part));
    };
    const __m256i low = load(base, 0);
    const __m256i high = load(base, sizeof(__m256i));
    const __m256i differ = _mm256_or_si256(
        _mm256_or_si256(_mm256_xor_si256(load(page, 0), low), _mm256_xor_si256(load(common, 0), low)),
        _mm256_or_si256(_mm256_xor_si256(load(page, sizeof(__m256i)), high),
                        _mm256_xor_si256(load(common, sizeof(__m256i)), high)));
    if (!_mm256_testz_si256(differ, differ)) return at;
  }
  return bytes;
}

inline bool has_wide_scan() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2");
}

}  // namespace hpcrun

#pragma once
// Caches what one thread's walks found out about code addresses. Zeroed memory is a valid empty cache.
// Async-signal-safe.
//
// A read of memory that was never written maps the kernel's page of zeros. The first write replaces that
// page, which interrupts all processors on which the program runs (TLB shootdown). Therefore a page is not
// read before an entry was written to it.

#include <cstddef>
#include <cstdint>

#include "hpcrun/unwind/frame.h"
#include "hpcrun/unwind/rule.h"

namespace hpcrun {

struct CachedCode {
  uint64_t tag = 0;  // address | generation << 48
  FrameKey key = 0;
  Rule rule;
};
static_assert(sizeof(CachedCode) == 40);

class CodeCache {
 public:
  // Returns the entry of the address, or nullptr. `tag`: the address's, as in CachedCode.
  CachedCode* find(uint64_t address, uint64_t tag) noexcept {
    CachedCode* const entry = &entries_[slot(address)];
    return is_kept(*entry) && entry->tag == tag ? entry : nullptr;
  }

  // Stores the entry, replacing the one in its slot.
  CachedCode* keep(uint64_t address, const CachedCode& code) noexcept {
    CachedCode* const entry = &entries_[slot(address)];
    const uint64_t page = page_of(*entry);
    written_[page / 64 % kWords] |= uint64_t{1} << page % 64;
    *entry = code;
    return entry;
  }

  void clear() noexcept {
    for (CachedCode& entry : entries_)
      if (is_kept(entry)) entry.tag = 0;
  }

 private:
  // 8,192 entries, 320 KiB if all are used: as many as the call sites of a compiler.
  static constexpr unsigned kBits = 13;
  static constexpr size_t kEntries = size_t{1} << kBits;
  static constexpr size_t kPage = 4096;
  static constexpr size_t kWords = 2;  // one bit per page
  static_assert(kEntries * sizeof(CachedCode) / kPage + 2 <= kWords * 64);

  static size_t slot(uint64_t address) noexcept {
    return static_cast<size_t>((address * 0x9e3779b97f4a7c15u) >> (64 - kBits));
  }
  // Returns the page that holds the entry's tag.
  static uint64_t page_of(const CachedCode& entry) noexcept {
    return reinterpret_cast<uint64_t>(&entry) / kPage;
  }
  [[nodiscard]] bool is_kept(const CachedCode& entry) const noexcept {
    const uint64_t page = page_of(entry);
    return written_[page / 64 % kWords] >> page % 64 & 1;
  }

  uint64_t written_[kWords];
  CachedCode entries_[kEntries];
};

}  // namespace hpcrun

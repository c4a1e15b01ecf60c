#pragma once
// The private pages of the calling thread, if it is a converted thread that has any, and when handlers may
// change them. All calls are async-signal-safe.

#include <pthread.h>

#include <atomic>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

// Set and cleared by the converted thread itself. nullptr: all its memory is common.
extern thread_local constinit PrivatePages* own_pages __attribute__((tls_model("initial-exec")));

// The number of regions that the thread is in (repair/isolate/pass/regions.h): code that works on common
// memory, and may already hold addresses in it. Handlers must not isolate pages of such a thread, nor set
// own_pages.
extern thread_local constinit uint32_t open_regions __attribute__((tls_model("initial-exec")));

// DirectLocks::at; nullptr: there are no direct calls.
extern constinit std::atomic<const ptrdiff_t*> direct_calls_at;

inline bool is_in_direct_call() noexcept {
  const ptrdiff_t* const at = direct_calls_at.load(std::memory_order_relaxed);
  if (!at) return false;
  const auto* const thread = reinterpret_cast<const char*>(pthread_self());
  return *reinterpret_cast<const volatile uint32_t*>(thread + *at) > 0;
}

inline bool is_in_region() noexcept {
  return open_regions > 0 || is_in_direct_call();
}

// Set by a handler that did not change the thread's pages because of a region. Threads that synchronise all
// the time are hardly ever interrupted outside of one, so the thread itself catches up at the region's end
// (converted_pages.h).
extern thread_local constinit bool asked_in_region __attribute__((tls_model("initial-exec")));

// Own: publishes the thread's stores to threads that commit later. Others: fetches what other threads have
// published. Preserves errno.
inline void commit_own_pages(Stores stores = Stores::All) noexcept {
  if (PrivatePages* const pages = own_pages) [[unlikely]]
    pages->commit(stores);
}

// Pages that the program turned out to need as common memory, each with the reason (a WhyShared of
// interface.h) in the low bits of its address. Converted threads add pages, and the controller makes these
// common in all threads.
class NeededCommon {
 public:
  static constexpr uint32_t kPlaces = 64;
  // Without room for the page, all pages are needed.
  void add(uint64_t page, uint64_t why) noexcept {
    for (std::atomic<uint64_t>& place : places_) {
      uint64_t seen = 0;
      if (place.compare_exchange_strong(seen, page | why, std::memory_order_acq_rel) || page_of(seen) == page)
        return;
    }
    needs_all_.store(true, std::memory_order_release);
  }
  bool holds(uint64_t page) const noexcept {
    if (needs_all()) return true;
    for (const std::atomic<uint64_t>& place : places_)
      if (page_of(place.load(std::memory_order_acquire)) == page) return true;
    return false;
  }
  bool needs_all() const noexcept { return needs_all_.load(std::memory_order_acquire); }
  // Must be called once no page that was isolated is isolated again.
  void take_all() noexcept { needs_all_.store(false, std::memory_order_release); }
  void clear() noexcept {
    take_all();
    for (std::atomic<uint64_t>& place : places_) place.store(0, std::memory_order_relaxed);
  }
  // Calls use(page, why). True frees the entry: the page is not isolated again.
  template <typename Use>
  void take(Use use) noexcept {
    for (std::atomic<uint64_t>& place : places_) {
      const uint64_t one = place.load(std::memory_order_acquire);
      if (one && use(page_of(one), one & (kPageBytes - 1))) place.store(0, std::memory_order_release);
    }
  }

 private:
  static uint64_t page_of(uint64_t place) noexcept { return place & ~uint64_t{kPageBytes - 1}; }

  std::atomic<uint64_t> places_[kPlaces] = {};
  std::atomic<bool> needs_all_{false};
};
extern constinit NeededCommon needed_common;

inline bool needs_common(uint64_t page) noexcept {
  return needed_common.holds(page);
}

// Commits the page of the byte and makes it common in this converted thread, and soon in all others.
inline void share_own_page(PrivatePages& pages, uint64_t address, uint64_t why) noexcept {
  if (!pages.holds(address)) return;
  needed_common.add(page_down(address), why);
  pages.share(address);
}

}  // namespace hpcrun

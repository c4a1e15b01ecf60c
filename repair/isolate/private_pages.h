#pragma once
// The pages of common memory that a twin has for itself (TMI, sections 3.2 and 3.3): while it works on them
// no cache line of theirs is anybody else's. What it wrote reaches the common pages, and what others wrote
// reaches it, when it commits: at synchronisation, and where the program must see memory as it is.
//
// A page becomes private memory at once, not by the first store to it, and stays so over commits, which
// refresh it in place (merge.h): the way over write faults costs some 6 us a page and commit.
//
// All memory of this lies at addresses that are set aside in every process of the program before there are
// twins: an address that only one of them uses could be the program's in another.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr size_t kPageBytes = 4096;  // a huge page is isolated in pieces of this size
constexpr uint32_t kMaxPrivatePages = 64;

// Sets the addresses aside. Once, in the program's own process, before there are twins. `file` is what common
// memory is made of, each page at the offset of its address. False: there is no room.
bool reserve_private_pages(int file) noexcept;

// Of one twin; lies in memory that nobody else uses. All but merged() and commits() are for the twin alone,
// in which nothing else runs meanwhile. Async-signal-safe.
class PrivatePages {
 public:
  // From now on the page in which the address lies is the twin's own. False: there are too many, or no memory
  // for it; it is common then.
  bool isolate(uint64_t address) noexcept;
  // It is common again, after what was written there was committed. Addresses of other pages are left alone.
  void share(uint64_t address) noexcept;
  void share_all() noexcept;

  // Of all pages. Whoever releases a lock afterwards shows what it guards to those that commit after they
  // got it.
  void commit() noexcept {
    if (count_ > 0) commit_pages();
  }

  bool holds(uint64_t address) const noexcept { return find(address) < count_; }
  uint32_t count() const noexcept { return count_; }
  uint64_t commits() const noexcept { return __atomic_load_n(&commits_, __ATOMIC_RELAXED); }
  // Words that reached the common pages.
  uint64_t merged() const noexcept { return __atomic_load_n(&merged_, __ATOMIC_RELAXED); }

 private:
  void commit_pages() noexcept;
  uint32_t find(uint64_t address) const noexcept;
  uint32_t merge_page(uint32_t place) noexcept;

  struct Page {
    uint64_t address;
    uint32_t slot;  // where its common view and its base are
  };
  Page pages_[kMaxPrivatePages] = {};
  uint64_t used_slots_ = 0;  // a bit for each
  uint32_t count_ = 0;
  uint64_t commits_ = 0;
  uint64_t merged_ = 0;
};
static_assert(kMaxPrivatePages == 64);

}  // namespace hpcrun

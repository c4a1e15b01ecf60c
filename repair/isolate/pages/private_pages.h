#pragma once
// The pages of common memory that a converted thread has for itself (TMI, sections 3.2 and 3.3): while it
// works on them no cache line of theirs is anybody else's. What it wrote reaches the common pages, and what
// others wrote reaches it, when it commits: at synchronisation, and where the program must see memory as it
// is.
//
// A page becomes private memory at once, not by the first store to it, and stays so over commits, which
// refresh it in place (merge.h): the way over write faults costs some 6 us a page and commit.
//
// All memory of this lies at addresses that are set aside in every process of the program before there are
// converted threads: an address that only one of them uses could be the program's in another.

#include <cstddef>
#include <cstdint>

#include "repair/isolate/contract/pages.h"
#include "repair/isolate/pages/scan.h"

namespace hpcrun {

constexpr uint32_t kMaxPrivatePages = 64;

// Sets the addresses aside. Once, in the program's own process, before there are converted threads. `file` is
// what common memory is made of, each page at the offset of its address. False: there is no room.
bool reserve_private_pages(int file) noexcept;

// From the next commit on `changed` is told, by the converted thread itself, of each line of its pages that
// it changed since it committed last, and of the bytes of it that differ, a bit for each: where the same
// value was written again, nothing does. May be in a handler. nullptr: nobody wants to know. Before there are
// converted threads.
using ChangedLine = void (*)(uint64_t line, uint64_t bytes) noexcept;
void tell_changed_lines(ChangedLine changed) noexcept;

// Of one converted thread; lies in memory that nobody else uses. All but the counts are for the converted
// thread alone, in which nothing else runs meanwhile but handlers, which may commit. Async-signal-safe. Lines
// of its own: those of two converted threads lie side by side, and each writes to its own at every lock.
class alignas(64) PrivatePages {
 public:
  // In a new converted thread, before it has any. `place`: any number that no other converted thread has
  // meanwhile.
  void begin(uint32_t place = 0) noexcept;

  // From now on the page in which the address lies is the converted thread's own. False: there are too many,
  // or no memory for it; it is common then.
  bool isolate(uint64_t address) noexcept;
  // It is common again, after what was written there was committed. Addresses of other pages are left alone.
  void share(uint64_t address) noexcept;
  void share_all() noexcept;
  void keep_only(const uint64_t* pages, uint32_t count) noexcept;
  // Of a process that ends now: what was written is committed, and this is as new.
  void leave() noexcept;

  bool is_busy() const noexcept { return busy_; }
  // For handlers: whether they interrupted a call of this. Then `done` is called at the end of that.
  bool is_busy_until(void (*done)() noexcept) noexcept {
    if (busy_) done_ = done;
    return busy_;
  }

  // Of all pages. Whoever releases a lock afterwards shows what it guards to those that commit after they
  // got it: the one has to commit its own stores, the others those of others, which takes two thirds of the
  // time that both take. In a handler that interrupted one of these calls it does nothing.
  void commit(Stores stores = Stores::All) noexcept {
    if (count_ > 0 && !busy_)
      commit_pages(stores);
    else if (!busy_)
      pass_by();
  }
  // What the thread wrote before is committed when another one asks for it, at the latest: instead of a commit
  // after a lock and one before its release.
  void owe() noexcept {
    set(owes_, true);
    count_meetings(2);
  }

  // Where the same byte of common memory lies: in a view of the page where the page is the converted thread's
  // own, until that changes; else at the address itself.
  uint64_t common_address(uint64_t address) const noexcept;

  // As commit(), but of these bytes alone and, since that is what is merged at once, of the rest of their
  // kBlockBytes: what the converted thread wrote there is common, and what is common is what it reads there.
  void refresh(uint64_t address, size_t bytes) noexcept;

  // Around an access to common memory by its view (code-centric consistency, TMI, section 3.4): commits - its
  // own stores before, those of others after - or refreshes just these bytes, and returns where they are
  // common. Bytes that reach into another page, where one of both is the converted thread's own, make both
  // common for good. In between it is busy. Not nested.
  enum class Commit : bool { No, Yes };
  uint64_t open_view(uint64_t address, size_t bytes, Commit before) noexcept;
  // Nothing happens where none is open.
  void close_view(uint64_t address, size_t bytes, Commit after) noexcept;

  // All pages are common from set_aside() on, and the converted thread's own again from take_back() on:
  // around code of which nobody knows what it works on (inline assembly). Not nested.
  void set_aside() noexcept;
  void take_back() noexcept;

  // Whether others have changed something that this thread read last at its latest commit: on any of its
  // pages, or in these bytes, where it has not written itself since. Not while busy.
  bool is_outdated() const noexcept;
  bool is_outdated(uint64_t address, size_t bytes) const noexcept;

  bool holds(uint64_t address) const noexcept { return find(address) < count_; }
  // Whether some of these bytes, at least one and at most a page, are on one.
  bool reaches(uint64_t address, size_t bytes) const noexcept {
    for (uint32_t place = 0; place < count_; ++place)
      if (address + (bytes - 1) - pages_[place].address < kPageBytes + (bytes - 1)) return true;
    return false;
  }
  uint32_t count() const noexcept { return count_; }
  uint64_t commits() const noexcept { return __atomic_load_n(&commits_, __ATOMIC_RELAXED); }
  // Commits, and those that there was no page for, or no need.
  uint64_t meetings() const noexcept { return commits() + __atomic_load_n(&passed_by_, __ATOMIC_RELAXED); }
  // What one of kTimed of them took, summed up, in ticks of the time stamp counter.
  static constexpr uint64_t kTimed = 16;
  uint64_t timed_ticks() const noexcept { return __atomic_load_n(&timed_ticks_, __ATOMIC_RELAXED); }
  // The page's part of them, each time that the thread had it. For other threads.
  uint64_t timed_ticks_of(uint64_t page) const noexcept;
  // For other threads. Whether it owes a commit, how often it has committed stores of its own, and the number
  // of the time that it has had pages since begin(), which no other time of any converted thread has; 0: it
  // has none.
  bool owes() const noexcept { return __atomic_load_n(&owes_, __ATOMIC_ACQUIRE); }
  uint64_t own_commits() const noexcept { return __atomic_load_n(&own_commits_, __ATOMIC_ACQUIRE); }
  uint64_t number() const noexcept { return __atomic_load_n(&number_, __ATOMIC_ACQUIRE); }
  uint32_t place() const noexcept { return place_; }
  // Words that reached the common pages.
  uint64_t merged() const noexcept { return __atomic_load_n(&merged_, __ATOMIC_RELAXED); }

 private:
  class Busy;

  template <typename Value>
  static void set(Value& member, Value value) noexcept {
    __atomic_store_n(&member, value, __ATOMIC_RELEASE);
  }
  void commit_pages(Stores stores) noexcept;
  void pass_by() noexcept {
    set(owes_, false);
    count_meetings(1);
  }
  void count_meetings(uint64_t more) noexcept {
    __atomic_store_n(&passed_by_, passed_by_ + more, __ATOMIC_RELAXED);
  }
  uint32_t find(uint64_t address) const noexcept;
  uint32_t merge_page(uint32_t place, Stores stores) noexcept;
  void refresh_page(uint32_t place, uint64_t low, uint64_t high) noexcept;
  void merge_around(uint64_t address, size_t bytes, Commit all, Stores stores) noexcept;

  struct Page {
    uint64_t address;
    uint32_t slot;  // where its common view and its base are
    uint32_t cost;  // where its ticks are counted
  };
  struct Cost {
    uint64_t page;
    uint64_t ticks;
  };
  uint32_t cost_of(uint64_t page) noexcept;
  uint64_t merge_timed(Stores stores) noexcept;

  Page pages_[kMaxPrivatePages] = {};
  uint64_t used_slots_ = 0;  // a bit for each
  uint32_t count_ = 0;
  bool busy_ = false;
  void (*done_)() noexcept = nullptr;
  bool has_view_ = false;
  uint32_t aside_count_ = 0;
  uint64_t aside_[kMaxPrivatePages] = {};
  uint64_t commits_ = 0;
  uint64_t passed_by_ = 0;
  uint64_t merged_ = 0;
  uint64_t timed_ticks_ = 0;
  uint64_t own_commits_ = 0;
  uint64_t number_ = 0;
  uint32_t place_ = 0;
  bool owes_ = false;
  Cost costs_[kMaxPrivatePages] = {};  // of pages that the thread has, or had
};
static_assert(kMaxPrivatePages == 64);

}  // namespace hpcrun

#pragma once
// The private pages of a converted thread (TMI, sections 3.2 and 3.3). While it works on them, no other
// thread uses their cache lines. A commit publishes what it wrote to the common pages, and fetches what
// others wrote. It commits at synchronisation, and wherever the program requires memory as it is.
//
// A page becomes private at once, not at the first store to it, and stays private across commits, which
// refresh it in place (merge.h). Write faults would take about 6 us per page and commit.
//
// All of this memory lies at addresses that are reserved in every process of the program before there are
// converted threads. An address that only one process uses could belong to the program in another.

#include <cstddef>
#include <cstdint>

#include "repair/isolate/contract/pages.h"
#include "repair/isolate/pages/scan.h"

namespace hpcrun {

constexpr uint32_t kMaxPrivatePages = 64;

// Reserves the addresses. Must be called once, in the program's process, before there are converted threads.
// `file` backs common memory, with each page at the offset of its address. Returns false if there is no room.
bool reserve_private_pages(int file) noexcept;

// From the next commit on, converted threads call `changed`, possibly in a handler, for each line of their
// pages that they changed since their previous commit. `bytes` has a bit for each byte that differs; a value
// that was overwritten with the same value does not. nullptr: none. Must be called before there are converted
// threads.
using ChangedLine = void (*)(uint64_t line, uint64_t bytes) noexcept;
void report_changed_lines(ChangedLine changed) noexcept;

// The pages of one converted thread, in memory that only it uses. Only the converted thread may call anything
// but the counts. Its handlers may interrupt the calls, and commit. Async-signal-safe. Aligned to cache
// lines, because the objects of two converted threads are adjacent and each writes to its own at every lock.
class alignas(64) PrivatePages {
 public:
  // Must be called in a new converted thread before it has any page. `place`: a number that no other
  // converted thread has at the same time.
  void begin(uint32_t place = 0) noexcept;

  // Makes the page that contains the address private. Returns false if there are too many, or no memory for
  // it; it is common then.
  bool isolate(uint64_t address) noexcept;
  // Commits the page and makes it common again. Does nothing for an address of another page.
  void share(uint64_t address) noexcept;
  void share_all() noexcept;
  void keep_only(const uint64_t* pages, uint32_t count) noexcept;
  // Called in a process that is about to end. Commits, and resets this object.
  void leave() noexcept;

  bool is_busy() const noexcept { return busy_; }
  // For handlers: true if they interrupted a call of this object. `done` is called at the end of that call.
  bool is_busy_until(void (*done)() noexcept) noexcept {
    if (busy_) done_ = done;
    return busy_;
  }

  // Commits all pages. Before a thread releases a lock it commits its own stores, and after it takes one it
  // fetches those of others. Each takes two thirds of the time that both take. Does nothing in a handler that
  // interrupted a call of this object.
  void commit(Stores stores = Stores::All) noexcept {
    if (count_ > 0 && !busy_)
      commit_pages(stores);
    else if (!busy_)
      pass_by();
  }
  // Defers the commit of the thread's stores until another thread requests it, instead of a commit after a
  // lock and one before its release.
  void owe() noexcept {
    set(owes_, true);
    count_meetings(2);
  }

  // Returns where the same byte of common memory lies: in a view of the page if the page is private, until
  // that changes; else at the address itself.
  uint64_t common_address(uint64_t address) const noexcept;

  // Commits only these bytes and the rest of their kBlockBytes, which are merged at once. The thread's stores
  // to them are then common, and it reads what is common.
  void refresh(uint64_t address, size_t bytes) noexcept;

  // Surround an access to common memory through its view (code-centric consistency, TMI, section 3.4). They
  // commit, the thread's own stores before and those of others after, or refresh just these bytes.
  // open_view() returns where the bytes are common. If the bytes reach into another page and either page is
  // private, both become common permanently. The object is busy in between. Not nested.
  enum class Commit : bool { No, Yes };
  uint64_t open_view(uint64_t address, size_t bytes, Commit before) noexcept;
  // Does nothing if no view is open.
  void close_view(uint64_t address, size_t bytes, Commit after) noexcept;

  // set_aside() makes all pages common, and take_back() makes them private again, around code with unknown
  // accesses (inline assembly). Not nested.
  void set_aside() noexcept;
  void take_back() noexcept;

  // True if others have changed something that this thread last read at its latest commit, on any of its
  // pages or in these bytes, and that it has not written itself since. Must not be called while busy.
  bool is_outdated() const noexcept;
  bool is_outdated(uint64_t address, size_t bytes) const noexcept;

  bool holds(uint64_t address) const noexcept { return find(address) < count_; }
  // True if some of these bytes, at least one and at most a page, lie on a private page.
  bool reaches(uint64_t address, size_t bytes) const noexcept {
    for (uint32_t place = 0; place < count_; ++place)
      if (address + (bytes - 1) - pages_[place].address < kPageBytes + (bytes - 1)) return true;
    return false;
  }
  uint32_t count() const noexcept { return count_; }
  uint64_t commits() const noexcept { return __atomic_load_n(&commits_, __ATOMIC_RELAXED); }
  // Counts commits, including those for which there was no page or no need.
  uint64_t meetings() const noexcept { return commits() + __atomic_load_n(&passed_by_, __ATOMIC_RELAXED); }
  // Returns the total time of every kTimed-th of them, in ticks of the time stamp counter.
  static constexpr uint64_t kTimed = 16;
  uint64_t timed_ticks() const noexcept { return __atomic_load_n(&timed_ticks_, __ATOMIC_RELAXED); }
  // Returns the page's part of these ticks, over all times that the thread had it. For other threads.
  uint64_t timed_ticks_of(uint64_t page) const noexcept;
  // For other threads: whether this one owes a commit, how often it has committed stores of its own, and the
  // number of the time for which it has had pages since begin(). That number is unique among all converted
  // threads; 0: it has none.
  bool owes() const noexcept { return __atomic_load_n(&owes_, __ATOMIC_ACQUIRE); }
  uint64_t own_commits() const noexcept { return __atomic_load_n(&own_commits_, __ATOMIC_ACQUIRE); }
  uint64_t number() const noexcept { return __atomic_load_n(&number_, __ATOMIC_ACQUIRE); }
  uint32_t place() const noexcept { return place_; }
  // Counts words that reached the common pages.
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
    uint32_t slot;  // of its common view and its base
    uint32_t cost;  // index into costs_
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
  Cost costs_[kMaxPrivatePages] = {};  // of pages that the thread has or had
};
static_assert(kMaxPrivatePages == 64);

}  // namespace hpcrun

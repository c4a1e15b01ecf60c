#pragma once
// A set of points in time that mostly grows at its end: when a device was at work, when threads waited. Tells
// how much of the time before any point it has. One user at a time; times in ns.

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/model/blame.h"

namespace hpcrun {

class IntervalHistory {
 public:
  // The arena is not owned.
  void attach(Arena& arena) noexcept { arena_ = &arena; }

  // Adds [begin, end). How much of it is new: what is in the set already counts once, what lies before
  // forgotten_until() does not count.
  uint64_t add(uint64_t begin, uint64_t end) noexcept;

  // How much of [0, time) is in the set. Exact from forgotten_until() on.
  uint64_t covered_before(uint64_t time) const noexcept;
  uint64_t covered(uint64_t begin, uint64_t end) const noexcept;

  // The first interval of the set in the window, cut to it; empty, at its end: there is none. Exact as above.
  Interval first_in(Interval window) const noexcept;

  uint64_t total() const noexcept { return count_ ? end_of_sum(count_ - 1) : forgotten_sum_; }
  uint64_t last_end() const noexcept { return count_ ? entries_[count_ - 1].end : forgotten_until_; }
  size_t count() const noexcept { return count_; }

  // Single intervals before `time` are not needed any more.
  void forget_before(uint64_t time) noexcept;
  uint64_t forgotten_until() const noexcept { return forgotten_until_; }

 private:
  struct Entry {
    uint64_t begin;
    uint64_t end;
    uint64_t sum_before;  // of all that is in the set before `begin`
  };

  uint64_t end_of_sum(size_t i) const noexcept {
    return entries_[i].sum_before + (entries_[i].end - entries_[i].begin);
  }
  size_t first_ending_at_or_after(uint64_t time) const noexcept;
  bool make_room() noexcept;
  void renew_sums(size_t from) noexcept;

  Arena* arena_ = nullptr;
  Entry* memory_ = nullptr;
  size_t room_ = 0;           // of the memory
  Entry* entries_ = nullptr;  // in it, after those that were forgotten; disjoint, sorted
  size_t count_ = 0;
  uint64_t forgotten_until_ = 0;
  uint64_t forgotten_sum_ = 0;
};

}  // namespace hpcrun

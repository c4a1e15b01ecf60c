#pragma once
// A set of points in time that mostly grows at its end, such as the time that a device was busy or that
// threads waited. Returns how much of the time before any point is in the set. One user at a time; times in
// ns.

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/model/blame.h"

namespace hpcrun {

class IntervalHistory {
 public:
  // The arena is not owned.
  void attach(Arena& arena) noexcept { arena_ = &arena; }

  // Adds [begin, end). Returns how much of it is new. Time that is already in the set, or before
  // kept_since(), does not count.
  uint64_t add(uint64_t begin, uint64_t end) noexcept;

  // Returns how much of [0, time) is in the set. Exact from kept_since() on.
  uint64_t covered_before(uint64_t time) const noexcept;
  uint64_t covered(uint64_t begin, uint64_t end) const noexcept;

  // Returns the first interval of the set in the window, cut to it. Returns an empty one at the window's end
  // if there is none. Exact as above.
  Interval first_in(Interval window) const noexcept;

  uint64_t total() const noexcept { return count_ ? end_of_sum(count_ - 1) : removed_sum_; }
  uint64_t last_end() const noexcept { return count_ ? entries_[count_ - 1].end : kept_since_; }
  size_t count() const noexcept { return count_; }

  // Discards single intervals before `time`, and keeps their sum.
  void remove_before(uint64_t time) noexcept;
  uint64_t kept_since() const noexcept { return kept_since_; }

 private:
  struct Entry {
    uint64_t begin;
    uint64_t end;
    uint64_t sum_before;  // total length of the set before `begin`
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
  Entry* entries_ = nullptr;  // within the memory, after discarded ones; disjoint, sorted
  size_t count_ = 0;
  uint64_t kept_since_ = 0;
  uint64_t removed_sum_ = 0;
};

}  // namespace hpcrun

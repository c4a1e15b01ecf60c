#include "hpcrun/device/interval_history.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace hpcrun {

namespace {

constexpr size_t kFirstRoom = 64;
// Beyond this (24 MiB), the older half is discarded, even if it is still needed.
constexpr size_t kMaxEntries = size_t{1} << 20;

}  // namespace

// Searches from the end, where the entry is usually found within a few steps.
size_t IntervalHistory::first_ending_at_or_after(uint64_t time) const noexcept {
  constexpr size_t kSteps = 8;
  size_t at = count_;
  for (size_t i = 0; i < kSteps; ++i) {
    if (at == 0 || entries_[at - 1].end < time) return at;
    --at;
  }
  const Entry* found =
      std::partition_point(entries_, entries_ + at, [time](const Entry& entry) { return entry.end < time; });
  return static_cast<size_t>(found - entries_);
}

// Makes room. Moves entries at most once per entry added or discarded.
bool IntervalHistory::make_room() noexcept {
  const auto removed = static_cast<size_t>(entries_ - memory_);
  if (removed + count_ < room_) return true;
  if (count_ == kMaxEntries) {
    remove_before(entries_[count_ / 2].begin);
    return make_room();
  }
  Entry* moved = memory_;
  if (removed < count_ || !room_) {
    const size_t more = room_ ? room_ * 2 : kFirstRoom;
    moved = arena_->allocate_array<Entry>(more);  // the smaller blocks together waste as much
    if (!moved) return false;
    memory_ = moved;
    room_ = more;
  }
  if (count_) std::memmove(moved, entries_, count_ * sizeof(Entry));
  entries_ = moved;
  return true;
}

void IntervalHistory::renew_sums(size_t from) noexcept {
  uint64_t sum = from ? end_of_sum(from - 1) : removed_sum_;
  for (size_t i = from; i < count_; ++i) {
    entries_[i].sum_before = sum;
    sum += entries_[i].end - entries_[i].begin;
  }
}

uint64_t IntervalHistory::add(uint64_t begin, uint64_t end) noexcept {
  begin = std::max(begin, kept_since_);
  if (begin >= end || !make_room()) return 0;
  begin = std::max(begin, kept_since_);  // making room may have discarded more
  if (begin >= end) return 0;
  const uint64_t before = total();
  const size_t first = first_ending_at_or_after(begin);
  size_t last = first;  // past the intervals that the new one touches
  while (last < count_ && entries_[last].begin <= end) ++last;
  if (first == last) {
    std::memmove(entries_ + first + 1, entries_ + first, (count_ - first) * sizeof(Entry));
    ++count_;
    entries_[first] = {begin, end, 0};
  } else {
    entries_[first].begin = std::min(entries_[first].begin, begin);
    entries_[first].end = std::max(entries_[last - 1].end, end);
    std::memmove(entries_ + first + 1, entries_ + last, (count_ - last) * sizeof(Entry));
    count_ -= last - first - 1;
  }
  assert((first == 0 || entries_[first - 1].end < entries_[first].begin) &&
         (first + 1 == count_ || entries_[first].end < entries_[first + 1].begin));
  renew_sums(first);
  return total() - before;
}

uint64_t IntervalHistory::covered_before(uint64_t time) const noexcept {
  const size_t at = first_ending_at_or_after(time);
  if (at == count_) return total();
  const Entry& entry = entries_[at];
  return entry.sum_before + (time > entry.begin ? time - entry.begin : 0);
}

uint64_t IntervalHistory::covered(uint64_t begin, uint64_t end) const noexcept {
  return begin < end ? covered_before(end) - covered_before(begin) : 0;
}

Interval IntervalHistory::first_in(Interval window) const noexcept {
  const size_t at = first_ending_at_or_after(window.begin + 1);
  if (at == count_ || entries_[at].begin >= window.end) return {window.end, window.end};
  return {std::max(entries_[at].begin, window.begin), std::min(entries_[at].end, window.end)};
}

void IntervalHistory::remove_before(uint64_t time) noexcept {
  if (time <= kept_since_) return;
  const uint64_t sum = covered_before(time);
  const size_t kept = first_ending_at_or_after(time + 1);
  entries_ += kept;
  count_ -= kept;
  removed_sum_ = sum;
  kept_since_ = time;
  if (!count_ || entries_[0].begin >= time) return;
  entries_[0].begin = time;
  entries_[0].sum_before = sum;
}

}  // namespace hpcrun

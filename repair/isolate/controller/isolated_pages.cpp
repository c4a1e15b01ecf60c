#include "repair/isolate/controller/isolated_pages.h"

namespace hpcrun {

bool IsolatedPages::add(uint64_t page) noexcept {
  for (std::atomic<uint64_t>& place : pages_) {
    if (place.load(std::memory_order_relaxed)) continue;
    writers_[&place - pages_].store(0, std::memory_order_relaxed);
    has_several_[&place - pages_].store(false, std::memory_order_relaxed);
    place.store(page, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    changes_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void IsolatedPages::remove(uint64_t page) noexcept {
  for (std::atomic<uint64_t>& place : pages_) {
    uint64_t there = page;
    if (!place.compare_exchange_strong(there, 0)) continue;
    count_.fetch_sub(1, std::memory_order_relaxed);
    changes_.fetch_add(1, std::memory_order_release);
  }
}

uint32_t IsolatedPages::place_of(uint64_t page) const noexcept {
  uint32_t place = 0;
  while (place < kMaxPrivatePages && pages_[place].load(std::memory_order_relaxed) != page) ++place;
  return place;
}

void IsolatedPages::note_writer(uint64_t page, uint32_t writer) noexcept {
  const uint32_t place = place_of(page);
  if (place == kMaxPrivatePages) return;
  uint32_t first = writers_[place].load(std::memory_order_relaxed);
  if (first == writer || (first == 0 && writers_[place].compare_exchange_strong(first, writer))) return;
  if (first != writer) has_several_[place].store(true, std::memory_order_relaxed);
}

bool IsolatedPages::has_several_writers(uint64_t page) const noexcept {
  const uint32_t place = place_of(page);
  return place < kMaxPrivatePages && has_several_[place].load(std::memory_order_relaxed);
}

void IsolatedPages::clear() noexcept {
  for (std::atomic<uint64_t>& place : pages_) place.store(0, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
  paused_.store(0);
  is_held_.store(false);
  changes_.fetch_add(1, std::memory_order_release);
}

void IsolatedPages::pause(uint64_t page) noexcept {
  if (paused_.exchange(page) != page) changes_.fetch_add(1, std::memory_order_release);
}

void IsolatedPages::hold(bool is_held) noexcept {
  if (is_held_.exchange(is_held) != is_held) changes_.fetch_add(1, std::memory_order_release);
}

void IsolatedPages::follow(PrivatePages& own, uint32_t& followed) const noexcept {
  const uint32_t changes = changes_.load(std::memory_order_acquire);
  if (changes == followed) return;
  followed = changes;
  uint64_t wanted[kMaxPrivatePages] = {};
  uint32_t count = 0;
  const uint64_t paused = paused_.load();
  const bool is_held = is_held_.load();
  for (const std::atomic<uint64_t>& place : pages_)
    if (const uint64_t page = place.load(std::memory_order_relaxed); page && page != paused && !is_held)
      wanted[count++] = page;
  own.keep_only(wanted, count);
  for (uint32_t i = 0; i < count; ++i)
    if (!needs_common(wanted[i])) own.isolate(wanted[i]);
}

}  // namespace hpcrun

#include "hpcrun/model/written_line.h"

#include <algorithm>

namespace hpcrun {

namespace {

void add_one(std::atomic<uint32_t>& count) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

WrittenLine::Slot* WrittenLine::slot_of(uint32_t thread) noexcept {
  for (Slot& slot : slots_) {
    uint32_t there = slot.thread.load(std::memory_order_acquire);
    if (there == 0 && slot.thread.compare_exchange_strong(there, thread + 1, std::memory_order_acq_rel))
      return &slot;
    if (there == thread + 1) return &slot;
  }
  return nullptr;
}

// Makes the thread the owner of the bytes. Returns those that another thread had changed last.
uint64_t WrittenLine::take_bytes(uint64_t bytes, uint8_t place) noexcept {
  uint64_t of_others = 0;
  for (uint64_t rest = bytes; rest; rest &= rest - 1) {
    const int at = __builtin_ctzll(rest);
    const uint8_t owner = owners_[at].exchange(place, std::memory_order_relaxed);
    if (owner && owner != place) of_others |= uint64_t{1} << at;
  }
  return of_others;
}

bool WrittenLine::owns_bytes(uint8_t place) const noexcept {
  for (const std::atomic<uint8_t>& owner : owners_)
    if (owner.load(std::memory_order_relaxed) == place) return true;
  return false;
}

void WrittenLine::note(uint32_t thread, uint64_t bytes) noexcept {
  Slot* const own = slot_of(thread);
  if (!own) return add_one(lost_);
  add_one(own->updates);
  own->bytes.fetch_or(bytes, std::memory_order_relaxed);
  for (uint32_t word = 0; word < kWords; ++word)
    if (bytes >> word * kWordBytes & 0xff) add_one(own->of_word[word]);
  const auto place = static_cast<uint8_t>(own - slots_ + 1);
  const uint64_t of_others = take_bytes(bytes, place);
  const uint8_t before = last_.exchange(place, std::memory_order_relaxed);
  if (before == 0 || before == place) return;
  add_one(own->interleaved);
  if (of_others) add_one(own->true_sharing);
  if (!of_others || (bytes != of_others && owns_bytes(before))) add_one(own->false_sharing);
}

void WrittenLine::clear() noexcept {
  last_.store(0, std::memory_order_relaxed);
  for (std::atomic<uint8_t>& owner : owners_) owner.store(0, std::memory_order_relaxed);
  for (Slot& slot : slots_) {
    if (slot.thread.load(std::memory_order_acquire) == 0) break;
    for (auto* const count : {&slot.updates, &slot.interleaved, &slot.true_sharing, &slot.false_sharing})
      count->store(0, std::memory_order_relaxed);
    for (std::atomic<uint32_t>& count : slot.of_word) count.store(0, std::memory_order_relaxed);
    slot.bytes.store(0, std::memory_order_relaxed);
    slot.thread.store(0, std::memory_order_release);
  }
}

uint32_t WrittenLine::interleaved() const noexcept {
  uint32_t all = 0;
  for (const Slot& slot : slots_) all += slot.interleaved.load(std::memory_order_relaxed);
  return all;
}

bool WrittenLine::writer(uint32_t place, Writer& out) const noexcept {
  if (place >= kMaxWriters) return false;
  const Slot& slot = slots_[place];
  const uint32_t thread = slot.thread.load(std::memory_order_acquire);
  if (thread == 0) return false;
  uint32_t most = 0;
  for (const std::atomic<uint32_t>& count : slot.of_word)
    most = std::max(most, count.load(std::memory_order_relaxed));
  uint64_t bytes = slot.bytes.load(std::memory_order_relaxed);
  for (uint32_t word = 0; word < kWords; ++word)
    if (uint64_t{slot.of_word[word].load(std::memory_order_relaxed)} * kRare < most)
      bytes &= ~(uint64_t{0xff} << word * kWordBytes);
  out = {thread - 1,
         bytes,
         slot.updates.load(std::memory_order_relaxed),
         slot.interleaved.load(std::memory_order_relaxed),
         slot.true_sharing.load(std::memory_order_relaxed),
         slot.false_sharing.load(std::memory_order_relaxed)};
  return true;
}

}  // namespace hpcrun

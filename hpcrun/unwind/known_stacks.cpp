#include "hpcrun/unwind/known_stacks.h"

#include <algorithm>

#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

constexpr uint32_t kFirstRoom = 32;

constexpr uint64_t mix(uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

uint64_t next_key(uint64_t key, uint64_t word) noexcept {
  return mix((key + 0x9e3779b97f4a7c15u) ^ word);
}

uint64_t first_key(const WalkOrigin& origin, const void* tag) noexcept {
  return next_key(origin.sp, reinterpret_cast<uintptr_t>(tag));
}

uint64_t word_at(uint64_t address) noexcept {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

const WalkedWord* next_return(const WalkedWord* at, const WalkedWord* end) noexcept {
  while (at != end && !at->is_return) ++at;
  return at;
}

// Finds the innermost return address in which the paths differ: its offset, and its value in each. All return
// addresses before it are equal, so both paths have it at this offset. Returns false if the paths differ
// otherwise.
bool first_difference(const WalkedWord* a, const WalkedWord* a_end, const WalkedWord* b,
                      const WalkedWord* b_end, uint32_t& offset, uint64_t& in_a, uint64_t& in_b) noexcept {
  for (;; ++a, ++b) {
    a = next_return(a, a_end);
    b = next_return(b, b_end);
    if (a == a_end || b == b_end || a->offset != b->offset) return false;
    if (a->value == b->value) continue;
    offset = a->offset;
    in_a = a->value;
    in_b = b->value;
    return true;
  }
}

}  // namespace

bool KnownStacks::leads_on(const Slot& slot, uint64_t key, uint64_t sp) const noexcept {
  return slot.key == key && slot.sp == sp && slot.offset != kIsEntry;
}

bool KnownStacks::has_entry(const Slot& slot, uint64_t key, uint64_t sp) const noexcept {
  return slot.key == key && slot.sp == sp && slot.offset == kIsEntry && entries_[slot.entry].key == key;
}

// Returns the key of the slot that the stack leads to.
uint64_t KnownStacks::descend(const WalkOrigin& origin, const void* tag, unsigned& level) noexcept {
  uint64_t key = first_key(origin, tag);
  for (level = 0; level < kMaxLevels; ++level) {
    const Slot& slot = slot_of(key);
    if (!leads_on(slot, key, origin.sp)) break;
    key = next_key(key, word_at(origin.sp + slot.offset));
  }
  return key;
}

bool KnownStacks::holds(const Entry& entry, const WalkOrigin& origin, const void* tag) noexcept {
  return entry.origin.sp == origin.sp && entry.origin.pc == origin.pc && entry.tag == tag &&
         (!entry.uses_bp || entry.origin.bp == origin.bp) && entry.generation == walk_generation() &&
         words_are_the_same(entry.words, entry.count, origin.sp);
}

uint32_t KnownStacks::find(const WalkOrigin& origin, const void* tag) noexcept {
  unsigned level;
  const uint64_t key = descend(origin, tag, level);
  const Slot& slot = slot_of(key);
  if (!has_entry(slot, key, origin.sp) || !holds(entries_[slot.entry], origin, tag)) return kNone;
  return slot.entry;
}

KnownStacks::Entry* KnownStacks::make_entry(uint64_t key) noexcept {
  Entry& entry = entries_[next_entry_];
  next_entry_ = (next_entry_ + 1) % kEntries;
  entry.key = key;
  return &entry;
}

bool KnownStacks::fill(Arena& arena, Entry& entry, const WalkRecord& record, const void* tag) noexcept {
  if (record.count > entry.room) {
    uint32_t room = std::max(entry.room, kFirstRoom);
    while (room < record.count) room *= 2;
    auto* words = arena.allocate_array<WalkedWord>(room);
    if (!words) {
      entry.key = 0;
      return false;
    }
    entry.words = words;
    entry.room = room;
  }
  std::copy(record.words, record.words + record.count, entry.words);
  entry.tag = tag;
  entry.origin = record.origin;
  entry.generation = record.generation;
  entry.count = record.count;
  entry.uses_bp = record.uses_bp;
  return true;
}

uint32_t KnownStacks::add(Arena& arena, const void* tag) noexcept {
  if (!record.is_complete) return kNone;
  const uint64_t sp = record.origin.sp;
  unsigned level;
  uint64_t key = descend(record.origin, tag, level);
  Entry* entry = nullptr;
  if (Slot& slot = slot_of(key); has_entry(slot, key, sp)) {
    entry = &entries_[slot.entry];
    uint32_t offset;
    uint64_t before, now;
    if (level < kMaxLevels && entry->generation == record.generation &&
        first_difference(entry->words, entry->words + entry->count, record.words, record.words + record.count,
                         offset, before, now)) {
      entry->key = next_key(key, before);
      slot_of(entry->key) = {entry->key, sp, kIsEntry, number_of(*entry)};
      slot_of(key) = {key, sp, offset, 0};
      key = next_key(key, now);
      entry = nullptr;
    }
  }
  if (!entry) {
    entry = make_entry(key);
    slot_of(key) = {key, sp, kIsEntry, number_of(*entry)};
  }
  return fill(arena, *entry, record, tag) ? number_of(*entry) : kNone;
}

}  // namespace hpcrun

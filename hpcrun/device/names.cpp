#include "hpcrun/device/names.h"

#include <cstring>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

namespace {

constexpr uint32_t kFirstRoom = 64;

// Longer names (of C++ templates) are compared by their beginning only.
constexpr size_t kMaxBytes = 4096;

uint64_t hash_of(const char* name, size_t bytes) noexcept {
  uint64_t hash = bytes;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, name + i, bytes - i < 8 ? bytes - i : 8);
    hash = mix64(hash ^ word) + 0x9e3779b97f4a7c15u;
  }
  return hash;
}

}  // namespace

// Returns the name's entry, or the free entry for it.
Names::Entry* Names::find(uint64_t hash, const char* name) noexcept {
  for (uint32_t at = static_cast<uint32_t>(hash) & (room_ - 1);; at = (at + 1) & (room_ - 1)) {
    Entry& entry = entries_[at];
    if (!entry.name) return &entry;
    if (entry.hash == hash && are_equal(entry.name, name)) return &entry;
  }
}

bool Names::grow(Arena& arena) noexcept {
  const uint32_t old_room = room_;
  const Entry* const old = entries_;
  auto* entries = arena.allocate_array<Entry>(old_room ? old_room * 2 : kFirstRoom);
  if (!entries) return false;
  entries_ = entries;
  room_ = old_room ? old_room * 2 : kFirstRoom;
  for (uint32_t i = 0; i < old_room; ++i)
    if (old[i].name) *find(old[i].hash, old[i].name) = old[i];
  return true;
}

bool Names::are_equal(const char* a, const char* b) noexcept {
  return std::strncmp(a, b, kMaxBytes) == 0;
}

uint32_t Names::number_of(Arena& arena, const char* name, bool& is_new, const char** kept) noexcept {
  is_new = false;
  const size_t bytes = strnlen(name, kMaxBytes);
  const uint64_t hash = hash_of(name, bytes);
  if (room_) {
    if (const Entry* entry = find(hash, name); entry->name) {
      if (kept) *kept = entry->name;
      return entry->number;
    }
  }
  if (2 * (count_ + 1) > room_ && !grow(arena)) return kNone;
  auto* copy = static_cast<char*>(arena.allocate(bytes + 1));
  if (!copy) return kNone;
  std::memcpy(copy, name, bytes);
  *find(hash, name) = {copy, hash, count_};
  is_new = true;
  if (kept) *kept = copy;
  return count_++;
}

}  // namespace hpcrun

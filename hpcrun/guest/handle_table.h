#pragma once
// Maps handles of an interface to data: a hash table from addresses to addresses. The caller must lock.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

class HandleTable {
 public:
  // Returns nullptr if the handle is not known.
  [[nodiscard]] void* find(const void* handle) const noexcept {
    if (!entries_) return nullptr;
    for (size_t at = slot(handle);; at = (at + 1) & mask_) {
      if (entries_[at].handle == handle) return entries_[at].value;
      if (!entries_[at].handle) return nullptr;
    }
  }

  // Sets the value of a handle; nullptr removes it. Returns false if there is no memory.
  bool put(const void* handle, void* value) noexcept {
    if (2 * (used_ + 1) > capacity() && !grow()) return false;
    size_t at = slot(handle);
    while (entries_[at].handle && entries_[at].handle != handle) at = (at + 1) & mask_;
    if (!entries_[at].handle) ++used_;
    entries_[at] = {handle, value};
    return true;
  }

  // Resets the table in a forked child: another thread of the parent may have been changing it.
  void reset_after_fork() noexcept { *this = HandleTable{}; }

 private:
  struct Entry {
    const void* handle;
    void* value;
  };
  static constexpr size_t kFirstCapacity = 256;
  static_assert(std::has_single_bit(kFirstCapacity), "mask_ has the bits below");

  [[nodiscard]] size_t capacity() const noexcept { return entries_ ? mask_ + 1 : 0; }
  size_t slot(const void* handle) const noexcept {
    return (reinterpret_cast<uintptr_t>(handle) * 0x9E3779B97F4A7C15u >> 32) & mask_;
  }
  [[nodiscard]] bool grow() noexcept {
    const size_t before = capacity();
    const size_t after = before ? 2 * before : kFirstCapacity;
    void* memory = map_own_memory(after * sizeof(Entry), InChild::Copy);
    if (!memory) return false;
    const HandleTable old = *this;
    entries_ = static_cast<Entry*>(memory);
    mask_ = after - 1;
    used_ = 0;
    for (size_t i = 0; i < before; ++i)
      if (old.entries_[i].value) put(old.entries_[i].handle, old.entries_[i].value);
    if (old.entries_) unmap_own_memory(old.entries_, before * sizeof(Entry));
    return true;
  }

  Entry* entries_ = nullptr;
  size_t mask_ = 0;
  size_t used_ = 0;  // including removed entries since the table last grew
};

}  // namespace hpcrun

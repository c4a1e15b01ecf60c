#pragma once
// An array that grows in place, in private memory of its own. A process that is created later has a copy of
// it. For one user at a time. All calls are async-signal-safe.

#include <cstddef>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

template <typename T, size_t kCapacity>
class MappedArray {
 public:
  // Returns nullptr if the array has kCapacity elements, or if there is no memory.
  T* add(const T& value) noexcept { return insert(size_, value); }
  T* insert(size_t place, const T& value) noexcept {
    if (size_ == kCapacity || !has_memory()) return nullptr;
    if (place != size_)
      __builtin_memmove(entries_ + place + 1, entries_ + place, (size_ - place) * sizeof(T));
    entries_[place] = value;
    ++size_;
    return entries_ + place;
  }
  // Keeps only the first `size` elements.
  void cut(size_t size) noexcept { size_ = size; }
  void erase(size_t first, size_t last) noexcept {
    if (first == last) return;
    __builtin_memmove(entries_ + first, entries_ + last, (size_ - last) * sizeof(T));
    size_ -= last - first;
  }
  void release() noexcept {
    if (entries_) sys_munmap(entries_, kCapacity * sizeof(T));
    entries_ = nullptr;
    size_ = 0;
  }

  size_t size() const noexcept { return size_; }
  T& operator[](size_t place) noexcept { return entries_[place]; }
  const T& operator[](size_t place) const noexcept { return entries_[place]; }
  const T* begin() const noexcept { return entries_; }
  const T* end() const noexcept { return entries_ + size_; }

 private:
  bool has_memory() noexcept {
    if (entries_) return true;
    void* const at = sys_mmap(nullptr, kCapacity * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    entries_ = static_cast<T*>(at);
    return true;
  }

  T* entries_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hpcrun

#pragma once
// Provides memory for one compilation, in mappings of its own, because programs call us on small stacks. Must
// not be used in handlers.

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// Holds one object; none if the kernel refuses the memory.
template <typename T>
class Mapped {
 public:
  template <typename... Arguments>
  explicit Mapped(Arguments&... arguments) noexcept {
    void* at = sys_mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) object_ = new (at) T(arguments...);
  }
  ~Mapped() {
    if (!object_) return;
    object_->~T();
    sys_munmap(object_, sizeof(T));
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_ = nullptr;
};

// A growing array.
template <typename T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Scratch() noexcept = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_) sys_munmap(data_, bytes_);
  }

  // Returns false, and leaves the array unchanged, if there is no memory.
  [[nodiscard]] bool push(const T& value) noexcept {
    if (size_ == capacity() && !grow(bytes_ ? bytes_ * 2 : kFirstBytes)) return false;
    data_[size_++] = value;
    return true;
  }
  [[nodiscard]] bool resize_zeroed(size_t size) noexcept {
    if (size * sizeof(T) > bytes_ && !grow((size * sizeof(T) + 4095) / 4096 * 4096)) return false;
    if (size > size_) std::memset(static_cast<void*>(data_ + size_), 0, (size - size_) * sizeof(T));
    size_ = size;
    return true;
  }
  void clear() noexcept { size_ = 0; }

  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  T& operator[](size_t i) noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  [[nodiscard]] size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  static constexpr size_t kFirstBytes = 64 * 1024;
  [[nodiscard]] size_t capacity() const noexcept { return bytes_ / sizeof(T); }

  [[nodiscard]] bool grow(size_t bytes) noexcept {
    void* at = sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return false;
    if (data_) {
      std::memcpy(at, static_cast<const void*>(data_), size_ * sizeof(T));
      sys_munmap(data_, bytes_);
    }
    data_ = static_cast<T*>(at);
    bytes_ = bytes;
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace hpcrun

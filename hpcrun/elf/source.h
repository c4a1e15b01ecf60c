#pragma once
// Sources from which ELF structures are read. A source copies bytes from an offset, or returns false and
// leaves the target unspecified. Its functions keep no state: any thread may call them, and handlers if the
// source itself is async-signal-safe, as those here are.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hpcrun/elf/cursor.h"

namespace hpcrun {

// kIsDirect: a read is a copy, without a system call.
template <typename Source>
concept ElfSource = requires(const Source& source, uint64_t offset, void* to, size_t bytes) {
  { Source::kIsDirect } -> std::convertible_to<bool>;
  { source.read(offset, to, bytes) }
  noexcept->std::same_as<bool>;
};

// Bytes at hand, such as a file that was read, or the part of it from `start` on. The caller keeps them.
class BytesSource {
 public:
  static constexpr bool kIsDirect = true;

  explicit BytesSource(Bytes bytes, uint64_t start = 0) noexcept : bytes_(bytes), start_(start) {}
  explicit BytesSource(std::string_view bytes) noexcept
      : bytes_{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()} {}

  // Returns the range, or no data if it is not within the bytes.
  [[nodiscard]] Bytes at(uint64_t offset, uint64_t bytes) const noexcept {
    const uint64_t from = offset - start_;
    if (offset < start_ || from > bytes_.size || bytes > bytes_.size - from) return {};
    return {bytes_.data + from, static_cast<size_t>(bytes)};
  }
  [[nodiscard]] bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    const Bytes from = at(offset, bytes);
    if (!from.data) return false;
    __builtin_memcpy(to, from.data, bytes);
    return true;
  }

 private:
  Bytes bytes_;
  uint64_t start_ = 0;
};

// Memory of this process that stays mapped, such as a module while the loader's lock is held. Offsets are
// relative to `base`; with base 0 they are addresses. Its contents are trusted to lie where they say.
class MappedSource {
 public:
  static constexpr bool kIsDirect = true;

  explicit MappedSource(uint64_t base = 0) noexcept : base_(base) {}
  [[nodiscard]] bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    __builtin_memcpy(to, reinterpret_cast<const void*>(base_ + offset), bytes);
    return true;
  }

 private:
  uint64_t base_;
};

// Reads item `number` of an array of structures. Returns false if it has no address.
template <typename Item, ElfSource Source>
[[nodiscard]] bool read_item(const Source& source, uint64_t array, uint64_t number, Item& to) noexcept {
  uint64_t offset;
  return !__builtin_mul_overflow(number, sizeof(Item), &offset) &&
         !__builtin_add_overflow(offset, array, &offset) && source.read(offset, &to, sizeof to);
}

// Calls use(item) with each item of an array of structures until it returns true. Returns true if one did.
// Items of a source that is not direct are read a few at a time. What follows an item that cannot be read is
// left out.
template <typename Item, ElfSource Source, typename Use>
bool any_item(const Source& source, uint64_t array, uint64_t count, Use use) noexcept {
  constexpr uint64_t kBatch = Source::kIsDirect ? 1 : 4;  // a quarter of a KiB: handlers run on small stacks
  Item items[kBatch];
  for (uint64_t first = 0; first < count; first += kBatch) {
    const uint64_t batch = count - first < kBatch ? count - first : kBatch;
    uint64_t offset;
    // The array may end before its stated end: its last items are then read one by one.
    const bool is_whole = kBatch != 1 && !__builtin_mul_overflow(first, sizeof(Item), &offset) &&
                          !__builtin_add_overflow(offset, array, &offset) &&
                          source.read(offset, items, batch * sizeof(Item));
    for (uint64_t i = 0; i < batch; ++i) {
      if (!is_whole && !read_item(source, array, first + i, items[i])) return false;
      if (use(static_cast<const Item&>(items[i]))) return true;
    }
  }
  return false;
}

// True if the string at `offset` of a string table of `bytes` bytes is `wanted`, which has at most 63 bytes.
template <ElfSource Source>
[[nodiscard]] bool string_is(const Source& source, uint64_t table, uint64_t bytes, uint64_t offset,
                             std::string_view wanted) noexcept {
  char text[64];
  const size_t size = wanted.size() + 1;  // with its terminating zero
  uint64_t at;
  return size <= sizeof text && offset <= bytes && size <= bytes - offset &&
         !__builtin_add_overflow(table, offset, &at) && source.read(at, text, size) &&
         std::string_view(text, wanted.size()) == wanted && text[wanted.size()] == 0;
}

}  // namespace hpcrun

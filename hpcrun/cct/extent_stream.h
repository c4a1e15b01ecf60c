#pragma once
// Appends to one stream of one thread in the measurement file: fills the current extent, and takes the next
// one when it is full. The first extent is one page, so short threads cost little; later extents double up to
// a limit. Async-signal-safe.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/writer.h"

namespace hpcrun {

class ExtentStream {
 public:
  void attach(MeasurementFile& file, StreamKind kind, uint32_t thread, size_t largest_extent) noexcept {
    file_ = &file;
    kind_ = kind;
    thread_ = thread;
    largest_ = largest_extent;
  }

  // True if the current extent has room for `bytes` more.
  [[nodiscard]] bool has_room(size_t bytes) const noexcept { return extent_.capacity - length_ >= bytes; }

  // Returns the position of the next bytes, for which there must be room. They take effect with publish().
  char* next() noexcept { return extent_.data() + length_; }

  void publish(size_t bytes) noexcept {
    assert(extent_.header != nullptr && has_room(bytes));
    length_ += bytes;
    extent_.header->length.store(static_cast<uint32_t>(length_), std::memory_order_release);
  }

  // Starts a new extent and returns the previous one (empty at first). Returns false, and changes nothing, if
  // the file is exhausted.
  [[nodiscard]] bool advance(uint64_t first, MappedExtent& previous) noexcept {
    const size_t bytes = std::min(largest_, size_t{kPageBytes} << std::min(sequence_, kMaxDoublings));
    MappedExtent fresh;
    if (!file_->take(kind_, thread_, {sequence_, first}, bytes, fresh)) return false;
    previous = extent_;
    extent_ = fresh;
    length_ = 0;
    ++sequence_;
    return true;
  }

  MappedExtent& extent() noexcept { return extent_; }
  // Seals the current extent. No room is left afterwards.
  void close() noexcept {
    file_->seal_and_unmap(extent_);
    length_ = 0;
  }

 private:
  static constexpr uint32_t kMaxDoublings = 16;

  MeasurementFile* file_ = nullptr;
  StreamKind kind_ = StreamKind::Nodes;
  uint32_t thread_ = 0;
  uint32_t sequence_ = 0;
  size_t largest_ = 0;
  size_t length_ = 0;
  MappedExtent extent_;
};

}  // namespace hpcrun

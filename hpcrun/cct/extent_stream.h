#pragma once
// One stream of one thread in the measurement file: the extent that is being filled, and the next when it is
// full. The first extent is one page, so that short threads cost little; later ones double up to a limit.
// Async-signal-safe.

#include <algorithm>
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

  // Room for `bytes` more in the current extent?
  bool has_room(size_t bytes) const noexcept { return extent_.capacity - length_ >= bytes; }

  // Where the next bytes go; they count once publish() was called.
  char* next() noexcept { return extent_.data() + length_; }

  void publish(size_t bytes) noexcept {
    length_ += bytes;
    extent_.header->length.store(static_cast<uint32_t>(length_), std::memory_order_release);
  }

  // Starts a new extent and hands out the one before it (empty at first). False when the file is exhausted:
  // then nothing changed.
  bool advance(uint64_t first, MappedExtent& previous) noexcept {
    const size_t bytes = std::min(largest_, size_t{kPageBytes} << std::min(sequence_, kMostDoublings));
    MappedExtent fresh;
    if (!file_->take(kind_, thread_, {sequence_, first}, bytes, fresh)) return false;
    previous = extent_;
    extent_ = fresh;
    length_ = 0;
    ++sequence_;
    return true;
  }

  MappedExtent& extent() noexcept { return extent_; }
  // No room is left afterwards.
  void close() noexcept {
    file_->seal_and_unmap(extent_);
    length_ = 0;
  }

 private:
  static constexpr uint32_t kMostDoublings = 16;

  MeasurementFile* file_ = nullptr;
  StreamKind kind_ = StreamKind::Nodes;
  uint32_t thread_ = 0;
  uint32_t sequence_ = 0;
  size_t largest_ = 0;
  size_t length_ = 0;
  MappedExtent extent_;
};

}  // namespace hpcrun

#include "analysis/database/write_behind.h"

#include <fcntl.h>

namespace prof {
namespace {

constexpr uint64_t kAtOnceBytes = 8 << 20;   // for each of which the kernel is called
constexpr uint64_t kCachedBytes = 64 << 20;  // by then the disk has them, or is slow

}  // namespace

void WriteBehind::wrote(int descriptor, uint64_t offset, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  cached_bytes_ += bytes;
  if (!cached_.empty() && cached_.back().end == offset &&
      cached_.back().end - cached_.back().begin < kAtOnceBytes)
    cached_.back().end += bytes;
  else
    cached_.push_back({offset, offset + bytes});
  while (cached_bytes_ > kCachedBytes && cached_.size() > 1) {
    const auto [begin, end] = cached_.front();
    cached_.pop_front();
    cached_bytes_ -= end - begin;
    // What is not on the disk by now is not waited for, and stays.
    posix_fadvise(descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin),
                  POSIX_FADV_DONTNEED);
  }
  const Range& last = cached_.back();
  if (cached_.size() > 1 && last.end - last.begin >= kAtOnceBytes)
    sync_file_range(descriptor, static_cast<off_t>(last.begin), static_cast<off_t>(last.end - last.begin),
                    SYNC_FILE_RANGE_WRITE);
}

}  // namespace prof

#pragma once
// Lets what was written to a large file go to the disk at once, and out of the kernel's cache when it is
// there: nobody reads it again before it is whole. The kernel would keep it until a share of the machine's
// memory is taken, of which every page has to be made and what others read goes, and then make the writer
// wait. A small file stays in the cache. Advice only: where the kernel or the file system do not follow it
// nothing happens.

#include <cstdint>
#include <deque>
#include <mutex>

namespace prof {

class WriteBehind {
 public:
  // These bytes of the file were written. Callable by several threads at once.
  void wrote(int descriptor, uint64_t offset, uint64_t bytes);

 private:
  struct Range {
    uint64_t begin, end;
  };

  std::mutex mutex_;
  std::deque<Range> cached_;  // by time
  uint64_t cached_bytes_ = 0;
};

}  // namespace prof

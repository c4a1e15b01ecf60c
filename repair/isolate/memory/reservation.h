#pragma once
// The address space that is mapped from the file in advance. Pieces of it are handed out and given back. For
// the files of common memory. Async-signal-safe, without locks.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "repair/isolate/memory/common_state.h"

namespace hpcrun {

// Returns a free piece of whole pages, zeroed, readable and writable, or 0. Large pieces begin at a multiple
// of 2 MiB, as the kernel aligns them. The piece is marked as taken, but not yet as common.
uint64_t take_reserved(uint64_t bytes) noexcept;

// Takes these pages, which the caller maps as something else. Returns false if some are taken.
bool take_reserved_at(uint64_t low, uint64_t high) noexcept;

// Frees the pages and maps them as they were. They stay taken if the kernel refuses.
void give_back_reserved(uint64_t low, uint64_t high) noexcept;

// Includes the reservation in core dumps up to `high`, in steps, and excludes what was never used.
void dump_below(uint64_t high) noexcept;

// Calls use(low, high) for each run of pages in the range that the file has.
template <typename Use>
void for_each_file_page_run(uint64_t low, uint64_t high, Use use) noexcept {
  const auto seek = [](uint64_t from, int what) {
    return raw_syscall(SYS_lseek, common_state.hold.file, static_cast<long>(from), what);
  };
  while (low < high) {
    const long data = seek(low, SEEK_DATA);
    if (data < 0 || static_cast<uint64_t>(data) >= high) return;
    const long hole = seek(static_cast<uint64_t>(data), SEEK_HOLE);
    const uint64_t end = hole < 0 || static_cast<uint64_t>(hole) > high ? high : static_cast<uint64_t>(hole);
    use(static_cast<uint64_t>(data), end);
    low = end;
  }
}

}  // namespace hpcrun

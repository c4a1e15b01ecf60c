#pragma once
// The address space that is mapped from the file beforehand: pieces of it are handed out and given back. For
// the files of common memory. Async-signal-safe, without locks.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "repair/isolate/memory/common_state.h"

namespace hpcrun {

// A free piece of whole pages, zeroed, readable and writable; large ones begin at a multiple of 2 MiB, as the
// kernel aligns them. It is taken, and not yet common. 0: there is none.
uint64_t take_reserved(uint64_t bytes) noexcept;

// The pages there, which the caller maps as something else. False: some are taken.
bool take_reserved_at(uint64_t low, uint64_t high) noexcept;

// The pages that are taken are free again, and mapped as they were. Where the kernel refuses they stay taken.
void give_back_reserved(uint64_t low, uint64_t high) noexcept;

// Core dumps have the reservation up to there, in steps, and not what nobody used.
void dump_below(uint64_t high) noexcept;

// Calls use(low, high) for what the file has of the range.
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

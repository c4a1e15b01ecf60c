#pragma once
// Waits for words in shared memory to change, across the processes that map it. All calls are
// async-signal-safe.

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

constexpr uint64_t kShortWaitNs = 200'000;
constexpr uint64_t kLongWaitNs = 50'000'000;

// Returns after the given time at the latest. May return early without a reason.
template <typename Word>
void wait_while(const std::atomic<Word>& word, Word value, uint64_t at_most_ns) noexcept {
  static_assert(sizeof(Word) == sizeof(uint32_t));
  const timespec time{static_cast<time_t>(at_most_ns / 1'000'000'000),
                      static_cast<long>(at_most_ns % 1'000'000'000)};
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT, static_cast<long>(value),
              reinterpret_cast<long>(&time));
}

template <typename Word>
void wake_all(const std::atomic<Word>& word) noexcept {
  static_assert(sizeof(Word) == sizeof(uint32_t));
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE, INT32_MAX);
}

}  // namespace hpcrun

#pragma once
// Wakes threads that sleep at a shared futex in common memory, as robust and process-shared mutexes use
// (futex(2)). The kernel identifies such a futex by the file and the offset in it. After the memory has
// become private, a wake-up at the same address no longer reaches them, and they would sleep forever.

#include <cstdint>

namespace hpcrun {

// Must be called after memory that was mapped from `file` at offsets that equal the addresses has become
// private. The sleepers wake spuriously, read the word again, and sleep by the new key. Exceptions: locks
// with priority inheritance, which the kernel hands over and no call wakes, and futex_waitv(2), whose words
// lie on a stack that may disappear meanwhile. Other threads may run. Async-signal-safe.
void rekey_futex_waiters(int file) noexcept;

}  // namespace hpcrun

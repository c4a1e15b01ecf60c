#pragma once
// Threads that sleep on a futex of common memory by a key that is shared, as those of robust mutexes and of
// what was made for several processes are (futex(2)): the kernel knows them by the file and the place in it.
// When that memory becomes private, who wakes others at the same address has another key, and they would sleep
// for ever.

#include <cstdint>

namespace hpcrun {

// After the memory, of which offsets in `file` are the addresses, has become private: they wake, as by chance,
// look at the word again, and sleep by the new key. Not those at locks with priority inheritance, which the
// kernel hands over and no call wakes, nor those of futex_waitv(2), whose words lie on a stack that may go
// meanwhile. Other threads may run. Async-signal-safe.
void wake_stranded_sleepers(int file) noexcept;

}  // namespace hpcrun

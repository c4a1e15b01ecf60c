#pragma once

// Marks the definition of a function that forked children call. These functions are placed next to each
// other, because each 64 KiB of code that a child enters costs it a page fault.
#define HPCRUN_FORK_PATH [[gnu::section(".text.hot.fork")]]

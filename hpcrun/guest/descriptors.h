#pragma once
// The runtime's own file descriptors. They sit close to the descriptor limit, or to 1,024 if it is higher,
// where programs that count on low or consecutive numbers do not meet them, and are remembered, so that a program that closes "everything"
// does not close them. All calls are async-signal-safe.

namespace hpcrun {

// Moves a descriptor to the top with close-on-exec and remembers it. Returns the new one, or the old one
// when the limit is too near.
int adopt_descriptor(int descriptor) noexcept;

// The same for one that can be done without: closes it and returns -1 when the topmost eighths of the numbers
// below the limit, and below 1,024, are taken.
int adopt_spare_descriptor(int descriptor) noexcept;

// Gives `descriptor` the number of another own one, which is closed, with close-on-exec. The number, or a
// negative one where that failed; `descriptor` is closed in any case.
int replace_own_descriptor(int descriptor, int number) noexcept;

// Leaves the number to the program: a duplicate is remembered in its place and returned (-1: there is no room
// for one), and the number, still open, is forgotten.
int vacate_descriptor(int descriptor) noexcept;

// Forgets and closes.
void close_own_descriptor(int descriptor) noexcept;

// The program has taken the number over by raw system calls.
void forget_descriptor(int descriptor) noexcept;

bool is_own_descriptor(int descriptor) noexcept;

// The first own descriptor in [first, last], or -1.
int next_own_descriptor(unsigned first, unsigned last) noexcept;

// One that another library of ours has adopted, by its copy of this file.
void remember_descriptor(int descriptor) noexcept;

}  // namespace hpcrun

// The runtime exports it: whether the program is to be kept from closing the descriptor. nullptr in libraries
// of ours, where it is not loaded.
extern "C" void hpcrun_keep_descriptor(int descriptor, bool is_own) noexcept __attribute__((weak));

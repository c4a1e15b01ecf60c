#pragma once
// Manages the runtime's own file descriptors. They are close to the descriptor limit, or to 1,024 if the
// limit is higher, out of the way of programs that rely on low or consecutive numbers. They are remembered,
// so a program that closes "everything" does not close them. All calls are async-signal-safe.

namespace hpcrun {

// Moves a descriptor to the top with close-on-exec, and remembers it. Returns the new one, or the old one if
// the limit is too near.
int adopt_descriptor(int descriptor) noexcept;

// The same for a descriptor that is not essential. Closes it and returns -1 if the topmost eighths of the
// numbers below the limit, and below 1,024, are in use.
int adopt_spare_descriptor(int descriptor) noexcept;

// Moves `descriptor` to the number of another own one, which is closed, with close-on-exec. Returns the
// number, or a negative one on failure. `descriptor` is closed in any case.
int replace_own_descriptor(int descriptor, int number) noexcept;

// Leaves the number to the program. A duplicate is remembered instead and returned (-1: there is no room for
// one). The number stays open and is no longer an own descriptor.
int vacate_descriptor(int descriptor) noexcept;

// Removes a descriptor from the own ones and closes it.
void close_own_descriptor(int descriptor) noexcept;

// Removes a descriptor whose number the program took over by raw system calls.
void remove_own_descriptor(int descriptor) noexcept;

[[nodiscard]] bool is_own_descriptor(int descriptor) noexcept;

// Returns the first own descriptor in [first, last], or -1.
int next_own_descriptor(unsigned first, unsigned last) noexcept;

// Remembers a descriptor that another of our libraries has adopted with its copy of this file.
void remember_descriptor(int descriptor) noexcept;

}  // namespace hpcrun

// Sets whether the program is prevented from closing the descriptor. Exported by the runtime; nullptr in our
// other libraries if the runtime is not loaded.
extern "C" void hpcrun_keep_descriptor(int descriptor, bool is_own) noexcept __attribute__((weak));

#pragma once
// Calls of a program to which the runtime comes late. A preloaded library stands in front of the C library by
// the order in which symbols are looked up; one that comes later writes its functions into the slots through
// which the load modules call (their global offset tables), and takes them out again when it goes. Not
// async-signal-safe.

namespace hpcrun {

// Is this library not in front of the C library?
bool is_loaded_late() noexcept;

// Every slot for a function that the runtime exports leads to it from now on, in all modules that are loaded;
// call again when more were. A function that a module defines itself, or that the executable defines for all,
// stays.
void redirect_calls() noexcept;

// In a forked child: slots stay as they are. The loader's locks may be lost in it.
void redirection_after_fork() noexcept;

// Each slot gets back what it had.
void restore_calls() noexcept;

}  // namespace hpcrun

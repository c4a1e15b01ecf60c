#pragma once
// Makes every atomic instruction of the program's modules (atomic_code.h) work on common memory in converted
// threads. A jump to a trampoline replaces the instruction. The trampoline commits the converted thread's
// private pages, makes the page that the instruction accesses common, executes the instruction, and commits
// again. Threads that observe its result therefore observe the thread's earlier stores, and the thread then
// observes what others stored before it (TMI, section 3.4: atomic code works on memory as it is).
//
// The jumps exist only in the converted threads' own copies of the code; threads at home execute the
// compiler's instructions. Trampolines lie at the same addresses in all processes and access only
// thread-local variables. A thread may therefore be converted or come home inside a trampoline.
//
// Atomic loads and stores of C++ that are plain instructions are not found. atomic_plan.h says how the jumps
// fit, trampoline.h what they lead to.

#include <link.h>

#include <cstdint>

namespace hpcrun {

// Finds the atomic instructions of a loaded module and makes trampolines for them. Takes about 30 ms per MiB
// of code. Must be called in the program's process while there are no converted threads, by one caller at a
// time. Not async-signal-safe. The caller leaves out the C library, the loader and our own libraries, and
// calls again for modules that are loaded later. Does nothing for a known module.
//
// Returns nullptr, or the reason for a failure as a clause. Nothing is planned for the module then, and
// threads of a program that uses it must have no private pages.
const char* plan_atomic_sites(const dl_phdr_info& module) noexcept;

// Removes an unloaded module whose code was in the range. Must be called without converted threads, too. Its
// trampolines stay.
void remove_atomic_sites(uint64_t low, uint64_t high) noexcept;

// Writes the patched code of all modules to the file of common memory, at offsets that equal its addresses
// and that nothing else uses. Converted threads map it in one piece. `inode` is the file's. If that fails or
// is too large, converted threads patch copies of their own, which takes longer. Same conditions as
// plan_atomic_sites().
void keep_patched_code(int file, uint64_t inode) noexcept;

// Called in a converted thread before its first page is isolated (ConversionHooks::converted). Returns false
// if the kernel does not allow writing to the code, or if other code lies there by now. The code is then
// unchanged, and the converted thread must have no private pages. Async-signal-safe.
bool patch_atomic_sites() noexcept;
// Restores the original code. A converted thread that comes home need not call it. Async-signal-safe.
void unpatch_atomic_sites() noexcept;

// True if the calling thread was interrupted after it checked for private pages and before it executed the
// instruction. No page may be isolated for it then: a handler, or ConversionHooks::converted, tries again
// later. Async-signal-safe.
bool is_at_atomic_site() noexcept;

// Returns the address of the instruction that the trampoline at `pc` replaces, if the thread's registers are
// as before it. Returns other addresses unchanged. Async-signal-safe.
uint64_t place_in_program(uint64_t pc) noexcept;

// The same for a fault, which is repeated at that address at home so that handlers receive the program's own
// (ConversionHooks::place_in_program). Async-signal-safe.
uint64_t leave_atomic_site(uint64_t pc) noexcept;

// Sets `pc` and `sp` to their values in the program, before or after the atomic instruction. `pc` must be in
// a trampoline, at an instruction that executes next or that a call returns to. Returns false if it is in
// none. Async-signal-safe while nothing is planned.
bool leave_trampoline(uint64_t& pc, uint64_t& sp) noexcept;

// Sets the function to call in a converted thread with private pages before it executes an atomic instruction
// of the program, at the address `instruction`. Pages are committed then, and the page that it accesses is
// made common. The thread may come home in it. nullptr, the initial value: none.
void set_before_atomic(void (*before)(uint64_t instruction) noexcept) noexcept;

struct AtomicSiteCounts {
  uint64_t sites;             // instructions
  uint64_t moved;             // other instructions, which were moved to make room for a jump
  uint64_t trampoline_bytes;  // whole pages
};
AtomicSiteCounts atomic_site_counts() noexcept;

}  // namespace hpcrun

#pragma once
// In a converted thread every atomic instruction of the program's modules (atomic_code.h) works on common
// memory: it is replaced by a jump to a trampoline, which commits the converted thread's private pages, gives
// the page that the instruction works on back to common memory, executes it, and commits again. So what the
// thread wrote before is seen by whoever sees the result, and what others wrote before it is seen by the
// thread afterwards (TMI, section 3.4: code that is atomic works on memory as it is).
//
// The jumps are in the converted threads' own copies of the code alone: threads at home execute what the
// compiler made. Trampolines lie at the same addresses in all processes, and may be left in another than they
// were entered in: they only look at thread-local variables, so a thread may be given back, or be converted,
// in the midst of one.
//
// Of C++'s atomic operations loads and stores that are plain instructions are not found.
// How jumps fit is in atomic_plan.h, what they lead to in trampoline.h.

#include <link.h>

#include <cstdint>

namespace hpcrun {

// Finds the atomic instructions of a loaded module and makes trampolines for them. In the program's own
// process, while there are no converted threads; not async-signal-safe, and for one caller at a time. Some 30
// ms per MiB of code. The C library, the loader and our own libraries are not for this: whoever calls leaves
// them out. Again for modules that are loaded later; nothing happens for one that is known already.
//
// nullptr: done. Otherwise the reason why it cannot be, as one clause; nothing is planned for the module
// then, and threads of a program that uses it must have no private pages.
const char* plan_atomic_sites(const dl_phdr_info& module) noexcept;

// Of a module that was unloaded, whose code was there. Likewise without converted threads. Trampolines stay.
void forget_atomic_sites(uint64_t low, uint64_t high) noexcept;

// Puts the code of all modules, as converted threads are to have it, into common memory's file, at the
// offsets of its addresses, where nothing else lies: they map it in one piece. `inode` is the file's. Where
// that fails, or is too much, converted threads write to copies of their own, which takes them longer. Like
// plan_atomic_sites().
void keep_patched_code(int file, uint64_t inode) noexcept;

// In a converted thread, before its first page is isolated: ConversionHooks::converted. Async-signal-safe.
// False: the kernel refuses to have the code written to, or other code lies there by now. It is as it was,
// and the converted thread must have no private pages.
bool patch_atomic_sites() noexcept;
// Takes that back. A converted thread that leaves need not. Async-signal-safe.
void unpatch_atomic_sites() noexcept;

// Whether the calling thread is interrupted between having looked for private pages and having executed the
// instruction: no page may be isolated for it then. Whoever wants to, in a handler or in
// ConversionHooks::converted, tries again at the next occasion. Async-signal-safe.
bool is_at_atomic_site() noexcept;

// For an address in a trampoline that of the instruction which it stands for, where the thread's registers
// are as before it; other addresses are returned as they are. Async-signal-safe.
uint64_t place_in_program(uint64_t pc) noexcept;

// The same for a fault, which is repeated at that address at home, so that handlers see the program's own
// (ConversionHooks::place_in_program). Async-signal-safe.
uint64_t leave_atomic_site(uint64_t pc) noexcept;

// For an address in a trampoline, of an instruction that the thread executes next or that a call returns to,
// what both would be in the program: before the atomic instruction or behind it. False: it is in none.
// Async-signal-safe, while nothing is planned.
bool leave_trampoline(uint64_t& pc, uint64_t& sp) noexcept;

// Called in a converted thread that has private pages before it executes an atomic instruction of the
// program, with the instruction's address; pages are committed, and the one that it works on is given back.
// The thread may come home in it. nullptr, as in the beginning: nobody.
void set_before_atomic(void (*before)(uint64_t instruction) noexcept) noexcept;

struct AtomicSiteCounts {
  uint64_t sites;             // instructions
  uint64_t moved;             // others, which had to make room for a jump
  uint64_t trampoline_bytes;  // of memory, in whole pages
};
AtomicSiteCounts atomic_site_counts() noexcept;

}  // namespace hpcrun

#pragma once
// What code compiled by `prof cc` or `prof c++` calls where it works atomically: the contract between the
// pass that marks such code (annotate.cpp) and the runtime (repair/isolate/preload/regions.cpp). TMI,
// section 3.4: the regions of code-centric consistency.
//
// Annotated code refers to these functions weakly, by its global offset table. Where nobody defines them, as
// in every run without isolation, their addresses are 0: a region costs a load and a branch then, and the
// program needs no library of ours. They keep errno, all general registers (but the one with a result, and
// r11) and are async-signal-safe. They must not be left by longjmp().
//
//   region                       calls before it, and behind it
//   ---------------------------  ------------------------------------------------------------------------
//   atomic operation             prof_atomic_begin(), prof_atomic_end(), the operation on the address that
//   volatile access              the first returned. Commits: before a release (or stronger) operation and a
//                                volatile store, after an acquire (or stronger) one and a volatile load. A
//                                relaxed one commits nothing, but is on common memory.
//   fence, compiler barrier      prof_commit(), before and after
//   call of libatomic            prof_share() of its pointers, prof_commit() after
//   inline assembly              prof_region_begin(), prof_region_end(); where control may leave it otherwise
//                                (asm goto), prof_share(nullptr, 0)
//
// Volatile accesses are "regular" in table 2 of the paper, which would leave races of theirs undefined.
// Programs older than C11 mean by them what assembly means, so they are treated as strictly.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  kProfCommitBefore = 1,
  kProfCommitAfter = 2,
};

// Where the bytes are common, for this one access: at `address` itself, or in a view of the page.
void* prof_atomic_begin(void* address, size_t bytes, unsigned flags);
void prof_atomic_end(void* address, size_t bytes, unsigned flags);

// All that the thread wrote is seen by others that commit later, and the other way round.
void prof_commit(void);

// The pages in which these bytes lie are common from now on; all of them by nullptr. Commits.
void prof_share(void* address, size_t bytes);

// In between all memory is common.
void prof_region_begin(void);
void prof_region_end(void);

#ifdef __cplusplus
}
#endif

// Each annotated object has this note, in .note.prof.regions, which linkers put one behind the other. `prof
// cc` sets `complete` in the first of what it links where all code of the module is annotated; so nobody else
// has to look after its atomic operations (repair/isolate/atomics/annotated.h).
constexpr uint32_t kProfNoteType = 1;
constexpr uint32_t kProfRegionsVersion = 1;
struct ProfRegionsNote {
  uint32_t name_bytes = 5;
  uint32_t content_bytes = 8;
  uint32_t type = kProfNoteType;
  char name[8] = {'p', 'r', 'o', 'f'};
  uint32_t version = kProfRegionsVersion;
  uint32_t complete = 0;
};

// Each annotated function has these bytes before its first: two instructions that do nothing, which carry
// eight bytes of ours. By them `prof cc` sees which functions of a module are not annotated.
constexpr unsigned char kProfFunctionMark[16] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 'p', 'r', 'o',
                                                 'f',  0x0f, 0x1f, 0x80, 'r',  'e', 'g', kProfRegionsVersion};

#pragma once
// Functions that code compiled by `prof cc` or `prof c++` calls around atomic operations. They are the
// contract between the pass that annotates such code (annotate.cpp) and the runtime
// (repair/isolate/preload/regions.cpp). TMI, section 3.4: the regions of code-centric consistency.
//
// Annotated code refers to these functions weakly, through its global offset table. Without a definition, as
// in every run without isolation, their addresses are 0: a region then costs a load and a branch, and the
// program needs no library of prof's. They preserve errno and all general registers (except r11 and the one
// with the result), and are async-signal-safe. They must not be left by longjmp().
//
//   region                       calls before it, and after it
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
// Volatile accesses are "regular" in table 2 of the paper, which would leave their races undefined. Programs
// older than C11 use them as they use assembly, so they are treated as strictly.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  kProfCommitBefore = 1,
  kProfCommitAfter = 2,
};

// Returns where the bytes are common, for this one access: at `address` itself, or in a view of the page.
void* prof_atomic_begin(void* address, size_t bytes, unsigned flags);
void prof_atomic_end(void* address, size_t bytes, unsigned flags);

// Publishes all stores of the thread to threads that commit later, and fetches what they have published.
void prof_commit(void);

// Makes the pages that contain these bytes common from now on, or all pages if `address` is nullptr. Commits.
void prof_share(void* address, size_t bytes);

// All memory is common in between.
void prof_region_begin(void);
void prof_region_end(void);

#ifdef __cplusplus
}
#endif

// A note in each annotated object (.note.prof.regions). Linkers concatenate the notes. If all code of a
// module is annotated, `prof cc` sets `complete` in the first note of what it links, and the module's atomic
// operations need no other handling (repair/isolate/atomics/annotated.h).
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

// Precedes the first byte of each annotated function: two instructions without effect, which carry eight
// bytes of prof's. They show `prof cc` which functions of a module are not annotated.
constexpr unsigned char kProfFunctionMark[16] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 'p', 'r', 'o',
                                                 'f',  0x0f, 0x1f, 0x80, 'r',  'e', 'g', kProfRegionsVersion};

/* profexact: a Valgrind tool that follows every load and store of a program with its calling context. The
   files: instrument.c adds code to the program's, contexts.c has calling contexts, accesses.c the state of
   memory, pairs.c what was wasted, memory.c mappings and system calls, allocations.c heap objects, dump.c the
   result. Valgrind runs one thread of the program at a time, so nothing here needs locks.
   SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "automaton.h"
#include "dump_format.h"
#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Valgrind keeps the program below this address (aspacem's maxAddr), so that one mapping shadows all of it.
 */
#define PE_CLIENT_BITS 37
#define PE_ALL_HANDLES (1ULL << 32)
#define PE_CLIENT_END (1ULL << PE_CLIENT_BITS)

/* Tables that may become large are mapped at fixed addresses, above all that Valgrind manages, without memory
   until they are touched. */
#define PE_REGION(number) (0x200000000000ULL + ((ULong)(number) << 40))
#define PE_SHADOW(kind) PE_REGION(kind)
#define PE_COUNTS PE_REGION(3)
#define PE_CACHES(kind) (PE_REGION(4) + ((ULong)(kind) << 36))
#define PE_TRACES (PE_REGION(5))
#define PE_CONTEXTS (PE_REGION(6))
#define PE_PAIRS (PE_REGION(7))
#define PE_MARKS (PE_REGION(8))

typedef UInt Handle;    /* of an instruction in its context: a trace's base + the number of its slot */
typedef UInt ContextId; /* 0: none */

/* A place in a superblock that has a handle in each context. */
typedef struct {
  UInt offset; /* of the instruction from the superblock's start */
  UShort bytes;
  UChar kind;        /* PeAccessKind */
  UChar number;      /* of the access in its instruction */
  UInt instructions; /* PE_ACCESS_INSTRUCTION: number of the segment's instructions, whose offsets are in */
  UInt first;        /* Block.offsets from here */
} Slot;

/* A superblock, as Valgrind translated it. The first three fields are those of the context that last ran it.
 */
typedef struct {
  ContextId context;
  Handle base;
  UInt trace;
  UInt id;
  Addr start;
  Addr return_address; /* of the call at its end */
  UInt module;         /* 1 + index; 0: none */
  UInt slot_count;
  Slot* slots;
  UInt* offsets; /* of instructions, for PE_ACCESS_INSTRUCTION */
} Block;

/* A superblock in a context. */
typedef struct {
  ContextId context;
  UInt block;
  Handle base;
  ContextId callee; /* the context of what it calls; 0: not called yet */
} Trace;

typedef struct {
  Addr return_address; /* 0: a thread's start */
  ContextId parent;
  UInt thread;
  UInt module;
  UInt depth;
} Context;

typedef struct {
  ULong count;
  ULong bytes;
  Addr address;
  Handle first, second;
  ContextId allocation;
  UShort access_bytes;
  UChar kind;
} Pair;

/* The pair that an access was last the second of. */
typedef struct {
  Handle first;
  UInt pair;
} PairCache;

typedef struct {
  Bool dead, silent, redundant, count;
  const HChar* directory;
} Options;
extern Options pe_options;

/* memory.c */
void* pe_reserve(Addr at, SizeT bytes);
long pe_syscall(long number, long a, long b, long c, long d, long e, long f);
void pe_reset(Addr address, SizeT bytes);
Bool pe_is_shared(Addr address);
extern UInt pe_shared_count;
void pe_track_memory(void);

/* contexts.c */
extern ContextId pe_context; /* of the running thread */
typedef struct {
  Addr slot;         /* address of the return address; ~0: never popped by the stack pointer */
  ContextId context; /* of the code that runs while this is the top */
  UInt is_signal;
} Frame;
extern Frame* pe_top; /* of the running thread's call stack */
typedef struct {
  Frame* frames;
  UInt capacity;
  UInt index;
  UInt alternate_frames; /* signal frames on an alternate stack */
  /* An allocation function that has not returned yet. */
  UInt allocating_depth; /* 0: none */
  UInt allocating_kind;
  ULong arguments[3];
  ContextId allocating_context;
  Handle syscall; /* handle of the last system call */
  ContextId start_context;
  Frame* top;
  ContextId context;
  Int tid;
  ULong start_ns, end_ns;
  Addr stack_low, stack_high; /* both 0: not known */
  HChar name[16];
} Thread;
extern Thread* pe_thread; /* the running one */
void pe_init_contexts(void);
void pe_enter(Block* block);
void pe_call(Block* block, Addr sp);
void pe_return(Addr sp, ULong result);
void pe_unwind(Addr sp);
void pe_set_syscall(Handle handle);
Handle pe_syscall_handle(ThreadId tid);
void pe_switch_to(ThreadId tid);
void pe_forget_other_threads(void);
void pe_end_threads(void);
UInt pe_depth(void);
UInt pe_context_count(void);
UInt pe_trace_count(void);
UInt pe_thread_count(void);
Handle pe_handle_end(void);
Thread* pe_thread_at(UInt index);
ULong pe_now(Int clock);

/* instrument.c */
IRSB* pe_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                    const VexGuestExtents* extents, const VexArchInfo* host, IRType guest_word,
                    IRType host_word);
Block* pe_block(UInt id);
UInt pe_block_count(void);

/* modules.c */
typedef struct {
  Addr start, end;
  ULong offset, device, inode;
  HChar* path;
} Module;
UInt pe_module_at(Addr address);
UInt pe_module_count(void);
const Module* pe_module(UInt index);

/* accesses.c: called from the program's code after (silent stores: before) the access */
void pe_dead_store_1(Addr a, Handle h);
void pe_dead_store_2(Addr a, Handle h);
void pe_dead_store_4(Addr a, Handle h);
void pe_dead_store_8(Addr a, Handle h);
void pe_dead_store_16(Addr a, Handle h);
void pe_dead_store_n(Addr a, Handle h, UInt bytes);
void pe_dead_load(Addr a, UInt bytes);
void pe_silent_store(Addr a, Handle h, UInt bytes, ULong difference);
void pe_silent_store_16(Addr a, Handle h, ULong d0, ULong d1);
void pe_silent_store_32(Addr a, Handle h, ULong d0, ULong d1, ULong d2, ULong d3);
void pe_silent_store_unknown(Addr a, Handle h, UInt bytes);
void pe_redundant_load(Addr a, Handle h, UInt bytes);
void pe_redundant_change(Addr a, UInt bytes);
void pe_kernel_load(Addr a, SizeT bytes);
void pe_kernel_store(Addr a, SizeT bytes, Handle h);

/* pairs.c */
void pe_init_pairs(void);
UInt pe_find_pair(enum PeKind kind, Handle first, Handle second, Addr address, UInt access_bytes);
UInt pe_pair_count(void);
void pe_forget_pairs(void);

/* Others may read and write shared memory unobserved. */
static inline void pe_add_pair(enum PeKind kind, Handle first, Handle second, Addr address, UInt bytes,
                               UInt access_bytes) {
  if (UNLIKELY(pe_shared_count != 0) && pe_is_shared(address)) return;
  PairCache* const cache = &((PairCache*)PE_CACHES(kind))[second];
  if (UNLIKELY(cache->first != first || cache->pair == 0)) {
    cache->pair = pe_find_pair(kind, first, second, address, access_bytes);
    cache->first = first;
    if (cache->pair == 0) return;
  }
  Pair* const pair = &((Pair*)PE_PAIRS)[cache->pair];
  pair->bytes += bytes;
  pair->count++;
}

/* allocations.c */
void pe_init_allocations(void);
UInt pe_allocation_kind(Addr entry); /* 0: not a function that allocates or frees */
void pe_enter_allocation(UInt kind, ULong a, ULong b, ULong c);
void pe_leave_allocation(ULong result);
ContextId pe_allocation_of(Addr address);

/* dump.c */
void pe_open_directory(void);
void pe_write_dump(void);
void pe_before_exec(void);
void pe_after_failed_exec(void);
void pe_restart_after_fork(ThreadId tid);

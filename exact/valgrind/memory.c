/* Mappings of the tool and of the program, and what system calls do to the program's memory.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_aspacemgr.h"

#include "profexact.h"

#define SYS_MMAP 9
#define SYS_MADVISE 28
#define SYS_SHMAT 30
#define MAP_NORESERVE 0x4000
#define MAP_FIXED_NOREPLACE 0x100000
#define MADV_DONTNEED 4
#define MADV_NOHUGEPAGE 15
#define PAGE 4096ULL
/* Below this, clearing is cheaper than giving memory back. */
#define MIN_RELEASED (256 * 1024)
#define MAX_SHARED 4096

typedef struct {
  Addr start, end;
} Range;

/* Memory that other processes or devices may use. */
static Range shared[MAX_SHARED];
UInt pe_shared_count;

long pe_syscall(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/* Maps a table. Its memory is taken when it is touched. */
void* pe_reserve(Addr at, SizeT bytes) {
  bytes = (bytes + PAGE - 1) / PAGE * PAGE;
  const long flags = VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const long result =
      pe_syscall(SYS_MMAP, (long)at, (long)bytes, VKI_PROT_READ | VKI_PROT_WRITE, flags, -1, 0);
  if (result != (long)at) {
    VG_(umsg)("profexact: cannot reserve %llu GiB of address space (error %ld)\n", (ULong)bytes >> 30,
              result < 0 ? -result : 0);
    VG_(exit)(125);
  }
  pe_syscall(SYS_MADVISE, (long)at, (long)bytes, MADV_NOHUGEPAGE, 0, 0, 0);
  return (void*)at;
}

static void clear_table(Addr start, SizeT bytes) {
  if (bytes < MIN_RELEASED) {
    ULong* const words = (ULong*)start; /* starts and sizes are multiples of 4 */
    UInt* const states = (UInt*)start;
    if (start % 8 == 0 && bytes % 8 == 0) {
      for (SizeT i = 0; i < bytes / 8; ++i)
        if (words[i] != 0) words[i] = 0;
    } else {
      for (SizeT i = 0; i < bytes / 4; ++i)
        if (states[i] != 0) states[i] = 0;
    }
    return;
  }
  const Addr end = start + bytes;
  const Addr first = (start + PAGE - 1) / PAGE * PAGE;
  const Addr last = end / PAGE * PAGE;
  clear_table(start, first - start);
  pe_syscall(SYS_MADVISE, (long)first, (long)(last - first), MADV_DONTNEED, 0, 0, 0);
  clear_table(last, end - last);
}

static Bool is_followed(enum PeKind kind) {
  return kind == PE_DEAD ? pe_options.dead : kind == PE_SILENT ? pe_options.silent : pe_options.redundant;
}

/* Memory that is new, or no longer the program's. */
void pe_reset(Addr address, SizeT bytes) {
  if (address >= PE_CLIENT_END || bytes == 0) return;
  if (bytes > PE_CLIENT_END - address) bytes = PE_CLIENT_END - address;
  for (UInt kind = 0; kind < PE_KINDS; ++kind)
    if (is_followed(kind)) clear_table(PE_SHADOW(kind) + address * sizeof(UInt), bytes * sizeof(UInt));
}

/* Shared mappings */

Bool pe_is_shared(Addr address) {
  for (UInt i = 0; i < pe_shared_count; ++i)
    if (address >= shared[i].start && address < shared[i].end) return True;
  return False;
}

static void add_shared(Addr start, Addr end) {
  if (start < end && pe_shared_count < MAX_SHARED) shared[pe_shared_count++] = (Range){start, end};
}

static void remove_shared(Addr start, SizeT bytes) {
  const Addr end = start + bytes;
  for (UInt i = pe_shared_count; i-- > 0;) {
    const Range range = shared[i];
    if (range.end <= start || range.start >= end) continue;
    shared[i] = shared[--pe_shared_count];
    add_shared(range.start, start < range.start ? range.start : start);
    add_shared(end > range.end ? range.end : end, range.end);
  }
}

static void after_mapping(Addr start, SizeT bytes) {
  if (pe_shared_count != 0) remove_shared(start, bytes);
  pe_reset(start, bytes);
}

static void on_map(Addr a, SizeT bytes, Bool r, Bool w, Bool x, ULong handle) {
  (void)r, (void)w, (void)x, (void)handle;
  after_mapping(a, bytes);
}

static void on_unmap(Addr a, SizeT bytes) {
  after_mapping(a, bytes);
}

static void on_new_break(Addr a, SizeT bytes, ThreadId tid) {
  (void)tid;
  after_mapping(a, bytes);
}

static void on_remap(Addr from, Addr to, SizeT bytes) {
  for (UInt kind = 0; kind < PE_KINDS; ++kind) {
    if (!is_followed(kind)) continue;
    const UInt* const source = (UInt*)PE_SHADOW(kind) + from;
    UInt* const target = (UInt*)PE_SHADOW(kind) + to;
    for (SizeT i = 0; i < bytes; ++i)
      if (source[i] != target[i]) target[i] = source[i];
  }
}

/* System calls */

static void on_kernel_read(CorePart part, ThreadId tid, const HChar* what, Addr a, SizeT bytes) {
  (void)tid, (void)what;
  if (part != Vg_CoreSysCall && part != Vg_CoreSysCallArgInMem) return;
  if (bytes == 0 || !VG_(am_is_valid_for_client)(a, bytes, VKI_PROT_READ)) return;
  pe_kernel_load(a, bytes);
}

static void on_kernel_read_string(CorePart part, ThreadId tid, const HChar* what, Addr a) {
  (void)part, (void)tid, (void)what;
  for (Addr page = a; VG_(am_is_valid_for_client)(page, 1, VKI_PROT_READ);) {
    const Addr end = (page / PAGE + 1) * PAGE;
    const SizeT bytes = VG_(strnlen)((const HChar*)page, end - page);
    if (page + bytes < end) {
      pe_kernel_load(a, page + bytes + 1 - a);
      return;
    }
    page = end;
  }
}

static void on_kernel_write(CorePart part, ThreadId tid, Addr a, SizeT bytes) {
  if (bytes == 0 || !VG_(am_is_valid_for_client)(a, bytes, VKI_PROT_NONE)) return;
  if (part == Vg_CoreSysCall)
    pe_kernel_store(a, bytes, pe_syscall_handle(tid));
  else
    pe_reset(a, bytes);
}

static void before_syscall(ThreadId tid, UInt number, UWord* arguments, UInt count) {
  (void)tid, (void)arguments, (void)count;
  if (number == __NR_execve || number == __NR_execveat) pe_before_exec();
}

static void after_syscall(ThreadId tid, UInt number, UWord* arguments, UInt count, SysRes result) {
  (void)tid, (void)count;
  if (number == __NR_execve || number == __NR_execveat) pe_after_failed_exec();
  if (sr_isError(result)) return;
  const Addr start = sr_Res(result);
  if (number == SYS_MMAP && (arguments[3] & VKI_MAP_SHARED))
    add_shared(start, start + arguments[1]);
  else if (number == SYS_SHMAT) {
    const NSegment* const segment = VG_(am_find_nsegment)(start);
    if (segment != NULL) add_shared(start, segment->end + 1);
  }
}

void pe_track_memory(void) {
  VG_(track_new_mem_startup)(on_map);
  VG_(track_new_mem_mmap)(on_map);
  VG_(track_new_mem_brk)(on_new_break);
  VG_(track_die_mem_brk)(on_unmap);
  VG_(track_die_mem_munmap)(on_unmap);
  VG_(track_copy_mem_remap)(on_remap);
  VG_(track_pre_mem_read)(on_kernel_read);
  VG_(track_pre_mem_read_asciiz)(on_kernel_read_string);
  VG_(track_post_mem_write)(on_kernel_write);
  VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
  for (UInt kind = 0; kind < PE_KINDS; ++kind) {
    if (!is_followed(kind)) continue;
    pe_reserve(PE_SHADOW(kind), PE_CLIENT_END * sizeof(UInt) + PAGE);
    pe_reserve(PE_CACHES(kind), PE_ALL_HANDLES * sizeof(PairCache));
  }
}

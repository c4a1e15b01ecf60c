/* Writes what was found to a file that prof reads (dump_format.h), at the end of the process and before it executes
   another program. Handles become numbers of accesses: only those that were executed are written.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_clientstate.h"
#include "pub_tool_xarray.h"

#include "profexact.h"

#define SYS_OPENAT 257
#define SYS_UNLINKAT 263
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_CLOEXEC 02000000
#define MAX_DUMPS 10000 /* of one process: one per exec */

/* Defined by Valgrind's core: moves a descriptor out of the program's way. */
extern Int VG_(safe_fd)(Int oldfd);

static Int directory = -1;
static HChar name[64]; /* of the dump that is being written */
static ULong start_realtime, start_monotonic;
static Bool is_written; /* before an exec */

static struct {
  Int file;
  Int error;
  UInt used;
  UChar bytes[1 << 16];
} out;

static void flush(void) {
  for (UInt at = 0; at < out.used && out.error == 0;) {
    const long written = pe_syscall(__NR_write, out.file, (long)(out.bytes + at), out.used - at, 0, 0, 0);
    if (written > 0)
      at += (UInt)written;
    else
      out.error = written == 0 ? VKI_ENOSPC : (Int)-written;
  }
  out.used = 0;
}

static void put(const void* bytes, SizeT count) {
  const UChar* from = bytes;
  while (count > 0) {
    if (out.used == sizeof out.bytes) flush();
    const SizeT room = sizeof out.bytes - out.used;
    const SizeT part = count < room ? count : room;
    VG_(memcpy)(out.bytes + out.used, from, part);
    out.used += (UInt)part;
    from += part;
    count -= part;
  }
}

/* Strings are collected first, because the tables refer to them. */
static HChar* strings;
static SizeT string_bytes, string_capacity;

static UInt add_string(const HChar* text) {
  const SizeT bytes = VG_(strlen)(text) + 1;
  if (string_bytes + bytes > string_capacity) {
    string_capacity = (string_bytes + bytes) * 2;
    strings = VG_(realloc)("pe.strings", strings, string_capacity);
  }
  VG_(memcpy)(strings + string_bytes, text, bytes);
  string_bytes += bytes;
  return (UInt)(string_bytes - bytes);
}

static UInt add_command(void) {
  const UInt at = add_string(VG_(args_the_exename));
  for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); ++i) {
    strings[string_bytes - 1] = ' ';
    add_string(*(HChar**)VG_(indexXA)(VG_(args_for_client), i));
  }
  return at;
}

static UInt add_executable(void) {
  HChar path[4096];
  VG_(client_fname)(path, sizeof path, False);
  return add_string(path);
}

/* Accesses */

static UInt* const marks = (UInt*)PE_MARKS; /* by handle: 1 + number in the file, 0 if it is not in the file */

static ULong count_of(Handle handle) {
  return ((const ULong*)PE_COUNTS)[handle];
}

static const Pair* pair_at(UInt index) {
  return &((const Pair*)PE_PAIRS)[index];
}

static void mark_pairs(void) {
  for (UInt i = 1; i < pe_pair_count(); ++i)
    if (pair_at(i)->count != 0) marks[pair_at(i)->first] = marks[pair_at(i)->second] = 1;
}

static void put_access(const Trace* trace, const Block* block, const Slot* slot, UInt offset, ULong count) {
  const PeDumpAccess access = {.address = block->start + offset,
                               .count = count,
                               .context = trace->context,
                               .module = block->module,
                               .bytes = slot->bytes,
                               .kind = slot->kind};
  put(&access, sizeof access);
}

/* Writes, or only numbers, the accesses of a slot. Returns how many there are. */
static UInt write_slot(const Trace* trace, UInt index, UInt number, Bool writes) {
  const Block* const block = pe_block(trace->block);
  const Slot* const slot = &block->slots[index];
  const Handle handle = trace->base + index;
  const ULong count = count_of(handle);
  if (slot->kind == PE_ACCESS_INSTRUCTION) {
    if (count == 0) return 0;
    for (UInt i = 0; writes && i < slot->instructions; ++i)
      put_access(trace, block, slot, block->offsets[slot->first + i], count);
    return slot->instructions;
  }
  if (count == 0 && marks[handle] == 0) return 0;
  if (writes)
    put_access(trace, block, slot, slot->offset, count);
  else
    marks[handle] = number + 1;
  return 1;
}

static ULong write_accesses(Bool writes) {
  ULong number = 0;
  for (UInt i = 1; i < pe_trace_count(); ++i) {
    const Trace* const trace = &((const Trace*)PE_TRACES)[i];
    if (trace->base == 1) continue; /* no handles were left */
    for (UInt slot = 0; slot < pe_block(trace->block)->slot_count; ++slot)
      number += write_slot(trace, slot, (UInt)number, writes);
  }
  return number;
}

static Bool is_written_pair(const Pair* pair) {
  return pair->count != 0 && marks[pair->first] != 0 && marks[pair->second] != 0;
}

static void write_pairs(void) {
  for (UInt i = 1; i < pe_pair_count(); ++i) {
    const Pair* const pair = pair_at(i);
    if (!is_written_pair(pair)) continue;
    const PeDumpPair record = {.address = pair->address,
                               .count = pair->count,
                               .bytes = pair->bytes,
                               .first = marks[pair->first] - 1,
                               .second = marks[pair->second] - 1,
                               .allocation = pair->allocation,
                               .access_bytes = pair->access_bytes,
                               .kind = (uint16_t)(pair->kind + PE_PAIR_DEAD_STORE)};
    put(&record, sizeof record);
  }
}

static ULong count_pairs(void) {
  ULong count = 0;
  for (UInt i = 1; i < pe_pair_count(); ++i) count += is_written_pair(pair_at(i));
  return count;
}

/* Other tables */

static void write_modules(UInt first_string) {
  UInt at = first_string;
  for (UInt i = 0; i < pe_module_count(); ++i) {
    const Module* const module = pe_module(i);
    const PeDumpModule record = {.start = module->start,
                                 .end = module->end,
                                 .file_offset = module->offset,
                                 .device = module->device,
                                 .inode = module->inode,
                                 .path = at};
    put(&record, sizeof record);
    at += (UInt)VG_(strlen)(module->path) + 1;
  }
}

static void write_threads(UInt first_string) {
  UInt at = first_string;
  for (UInt i = 0; i < pe_thread_count(); ++i) {
    const Thread* const thread = pe_thread_at(i);
    const PeDumpThread record = {
        .start_ns = thread->start_ns,
        .end_ns = thread->end_ns,
        .stack_low = thread->stack_low,
        .stack_high = thread->stack_high,
        .tid = thread->tid,
        .name = at};
    put(&record, sizeof record);
    at += (UInt)VG_(strlen)(thread->name) + 1;
  }
}

static void write_contexts(void) {
  for (UInt i = 1; i < pe_context_count(); ++i) {
    const Context* const context = &((const Context*)PE_CONTEXTS)[i];
    const PeDumpContext record = {.return_address = context->return_address,
                                  .parent = context->parent,
                                  .thread = context->thread,
                                  .module = context->module};
    put(&record, sizeof record);
  }
}

static UInt searched(void) {
  return (pe_options.dead ? PE_DEAD_STORES : 0) | (pe_options.silent ? PE_SILENT_STORES : 0) |
         (pe_options.redundant ? PE_REDUNDANT_LOADS : 0) | (pe_options.count ? PE_INSTRUCTIONS : 0);
}

static void write_file(void) {
  string_bytes = 0;
  PeDumpHeader header = {.version = PE_DUMP_VERSION,
                         .searched = searched(),
                         .pid = VG_(getpid)(),
                         .parent_pid = VG_(getppid)(),
                         .start_realtime_ns = start_realtime,
                         .start_monotonic_ns = start_monotonic,
                         .end_monotonic_ns = pe_now(1),
                         .command = add_command(),
                         .executable = add_executable(),
                         .modules = pe_module_count(),
                         .threads = pe_thread_count(),
                         .contexts = pe_context_count() - 1};
  VG_(memcpy)(header.magic, PE_DUMP_MAGIC, sizeof header.magic);
  const UInt module_strings = (UInt)string_bytes;
  for (UInt i = 0; i < pe_module_count(); ++i) add_string(pe_module(i)->path);
  const UInt thread_strings = (UInt)string_bytes;
  for (UInt i = 0; i < pe_thread_count(); ++i) add_string(pe_thread_at(i)->name);
  pe_reserve(PE_MARKS, (SizeT)pe_handle_end() * sizeof(UInt));
  mark_pairs();
  header.accesses = write_accesses(False);
  header.pairs = count_pairs();
  header.string_bytes = string_bytes;
  put(&header, sizeof header);
  write_modules(module_strings);
  write_threads(thread_strings);
  write_contexts();
  write_accesses(True);
  write_pairs();
  put(strings, string_bytes);
  flush();
  pe_syscall(__NR_munmap, (long)PE_MARKS, (long)((SizeT)pe_handle_end() * sizeof(UInt)), 0, 0, 0, 0);
}

static void remove_dump(void) {
  pe_syscall(SYS_UNLINKAT, directory, (long)name, 0, 0, 0, 0);
}

static Int create(void) {
  long file = -VKI_EEXIST;
  for (UInt n = 0; n < MAX_DUMPS && file == -VKI_EEXIST; ++n) {
    VG_(snprintf)(name, sizeof name, "exact-%d-%u.dump", VG_(getpid)(), n);
    const long flags = VKI_O_CREAT | VKI_O_EXCL | VKI_O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
    file = pe_syscall(SYS_OPENAT, directory, (long)name, flags, 0600, 0, 0);
  }
  return (Int)file;
}

void pe_write_dump(void) {
  out.file = create();
  if (out.file < 0) {
    VG_(umsg)("profexact: cannot create %s (error %d)\n", name, -out.file);
    return;
  }
  out.used = 0;
  out.error = 0;
  pe_end_threads();
  write_file();
  VG_(close)(out.file);
  if (out.error == 0) return;
  remove_dump(); /* which leaves room for the message */
  VG_(umsg)("profexact: cannot write %s (error %d)\n", name, out.error);
}

void pe_before_exec(void) {
  pe_write_dump();
  is_written = True;
}

void pe_after_failed_exec(void) {
  if (is_written) remove_dump();
  is_written = False;
  for (UInt i = 0; i < pe_thread_count(); ++i)
    if (pe_thread_at(i)->frames != NULL) pe_thread_at(i)->end_ns = 0; /* goes on */
}

static void note_start(void) {
  start_realtime = pe_now(0);
  start_monotonic = pe_now(1);
}

void pe_open_directory(void) {
  note_start();
  if (pe_options.directory == NULL) {
    VG_(umsg)("profexact: --directory is missing\n");
    VG_(exit)(125);
  }
  const Int file = VG_(fd_open)(pe_options.directory, VKI_O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (file < 0) {
    VG_(umsg)("profexact: cannot open the directory %s\n", pe_options.directory);
    VG_(exit)(125);
  }
  directory = VG_(safe_fd)(file);
}

/* The child counts from 0. It keeps its contexts, and the state of memory: what its parent stored, it may overwrite. */
void pe_restart_after_fork(ThreadId tid) {
  pe_switch_to(tid);
  note_start();
  is_written = False;
  pe_forget_other_threads();
  pe_forget_pairs();
  pe_syscall(__NR_madvise, (long)PE_COUNTS, (long)((SizeT)pe_handle_end() * sizeof(ULong)), 4, 0, 0, 0);
}

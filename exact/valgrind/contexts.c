/* Calling contexts of threads. A shadow stack per thread is pushed by calls. It is popped by the stack pointer,
   so that returns, longjmp and exceptions all end the frames that they leave. A trace is a superblock in a context.
   SPDX-License-Identifier: GPL-2.0-or-later */
#include "profexact.h"

#define MAX_CONTEXTS (1u << 28)
#define MAX_TRACES (1u << 30)
#define MAX_DEPTH 8192 /* deeper calls count as the context at this depth, as kMaxDepth in prof */
#define MAX_TIDS 65536

/* Handles below are for superblocks that no handles are left for. */
#define FIRST_HANDLE 65536u
#define LAST_HANDLE (~0u - FIRST_HANDLE)

ContextId pe_context;
Frame* pe_top;
Thread* pe_thread;

static Thread** threads; /* by index */
static UInt thread_count, thread_capacity;
static Thread* by_tid[MAX_TIDS];

static UInt context_count = 1, trace_count = 1;
static Handle handle_end = FIRST_HANDLE;
static UInt* table; /* of traces */
static UInt table_size;

static Context* context_at(ContextId id) {
  return &((Context*)PE_CONTEXTS)[id];
}

static Trace* trace_at(UInt index) {
  return &((Trace*)PE_TRACES)[index];
}

ULong pe_now(Int clock) {
  struct {
    ULong seconds, nanoseconds;
  } now = {0, 0};
  pe_syscall(228 /* clock_gettime */, clock, (long)&now, 0, 0, 0, 0);
  return now.seconds * 1000000000u + now.nanoseconds;
}

static ContextId make_context(ContextId parent, const Context* like) {
  if (context_count == MAX_CONTEXTS) return parent;
  *context_at(context_count) = *like;
  return context_count++;
}

static Thread* make_thread(ContextId creator) {
  if (thread_count == thread_capacity) {
    thread_capacity = thread_capacity == 0 ? 16 : thread_capacity * 2;
    threads = VG_(realloc)("pe.threads", threads, thread_capacity * sizeof *threads);
  }
  Thread* const thread = VG_(calloc)("pe.thread", 1, sizeof *thread);
  thread->capacity = 64;
  thread->frames = VG_(malloc)("pe.frames", thread->capacity * sizeof(Frame));
  thread->index = thread_count;
  const Context start = {.parent = creator, .thread = thread->index,
                         .depth = creator == 0 ? 0 : context_at(creator)->depth + 1};
  thread->start_context = thread->context = make_context(creator, &start);
  thread->top = thread->frames;
  *thread->top = (Frame){.slot = ~(Addr)0, .context = thread->context};
  threads[thread_count++] = thread;
  return thread;
}

static void on_create(ThreadId parent, ThreadId child) {
  ContextId creator = 0;
  if (parent != VG_INVALID_THREADID) {
    pe_switch_to(parent);
    creator = pe_context;
  }
  by_tid[child] = make_thread(creator);
}

static void on_first_instruction(ThreadId tid) {
  Thread* const thread = by_tid[tid];
  thread->tid = VG_(gettid)();
  thread->start_ns = pe_now(1);
  const SizeT bytes = VG_(thread_get_stack_size)(tid);
  if (bytes == 0) return;
  thread->stack_high = VG_(thread_get_stack_max)(tid) + 1;
  thread->stack_low = thread->stack_high - bytes;
}

static void read_name(Thread* thread) {
  HChar path[64];
  VG_(snprintf)(path, sizeof path, "/proc/self/task/%d/comm", thread->tid);
  const Int file = VG_(fd_open)(path, VKI_O_RDONLY, 0);
  if (file < 0) return;
  const Int bytes = VG_(read)(file, thread->name, sizeof thread->name - 1);
  thread->name[bytes > 0 ? bytes - 1 : 0] = 0; /* without the newline */
  VG_(close)(file);
}

static void end_thread(Thread* thread) {
  if (thread->end_ns != 0) return;
  read_name(thread);
  thread->end_ns = pe_now(1);
  VG_(free)(thread->frames);
  thread->frames = thread->top = NULL;
}

static void on_exit(ThreadId tid) {
  if (by_tid[tid] == NULL) return;
  if (pe_thread == by_tid[tid]) {
    pe_thread->context = pe_context;
    pe_thread = NULL;
  }
  end_thread(by_tid[tid]);
  by_tid[tid] = NULL;
}

void pe_end_threads(void) {
  const ULong now = pe_now(1);
  for (UInt i = 0; i < thread_count; ++i)
    if (threads[i]->end_ns == 0) {
      read_name(threads[i]);
      threads[i]->end_ns = now;
    }
}

void pe_switch_to(ThreadId tid) {
  Thread* const next = by_tid[tid];
  if (next == NULL || next == pe_thread) return;
  if (pe_thread != NULL) {
    pe_thread->top = pe_top;
    pe_thread->context = pe_context;
  }
  pe_thread = next;
  pe_top = next->top;
  pe_context = next->context;
}

static void on_run(ThreadId tid, ULong blocks) {
  (void)blocks;
  pe_switch_to(tid);
}

/* In a forked child, one thread is left. */
void pe_forget_other_threads(void) {
  for (UInt i = 0; i < thread_count; ++i)
    if (threads[i] != pe_thread && threads[i]->end_ns == 0) threads[i]->end_ns = 1;
  for (UInt i = 0; i < MAX_TIDS; ++i)
    if (by_tid[i] != pe_thread) by_tid[i] = NULL;
  pe_thread->tid = VG_(gettid)();
  pe_thread->start_ns = pe_now(1);
}

/* Signals: the handler runs in the context of the function that it interrupts. */

static void push(Frame frame) {
  Thread* const thread = pe_thread;
  const UInt depth = (UInt)(pe_top - thread->frames) + 1;
  if (depth == thread->capacity) {
    thread->capacity *= 2;
    thread->frames = VG_(realloc)("pe.frames", thread->frames, thread->capacity * sizeof(Frame));
  }
  pe_top = thread->frames + depth;
  *pe_top = frame;
  pe_context = frame.context;
}

static void on_signal(ThreadId tid, Int signal, Bool alternate) {
  (void)signal;
  pe_switch_to(tid);
  if (pe_thread == NULL) return;
  const Addr slot = alternate ? ~(Addr)0 : VG_(get_SP)(tid);
  push((Frame){.slot = slot, .context = pe_context, .is_signal = alternate ? 2 : 1});
  if (alternate) pe_thread->alternate_frames++;
}

static void pop_to(Frame* frame) {
  for (; pe_top > frame; --pe_top)
    if (pe_top->is_signal == 2) pe_thread->alternate_frames--;
  pe_context = pe_top->context;
  if (UNLIKELY(pe_thread->allocating_depth > pe_depth())) pe_thread->allocating_depth = 0;
}

static void on_signal_return(ThreadId tid, Int signal) {
  (void)signal;
  pe_switch_to(tid);
  if (pe_thread == NULL) return;
  for (Frame* frame = pe_top; frame > pe_thread->frames; --frame)
    if (frame->is_signal) {
      pop_to(frame - 1);
      return;
    }
}

/* A handler on an alternate stack may leave it by longjmp. */
static void leave_alternate_stack(Addr sp) {
  const ThreadId tid = VG_(get_running_tid)();
  const Addr low = VG_(thread_get_altstack_min)(tid);
  if (sp >= low && sp < low + VG_(thread_get_altstack_size)(tid)) return;
  for (Frame* frame = pe_top; frame > pe_thread->frames; --frame)
    if (frame->is_signal == 2) {
      pop_to(frame - 1);
      return;
    }
}

/* Calls and returns */

static inline void pop_below(Addr sp) {
  if (UNLIKELY(pe_thread->alternate_frames != 0)) leave_alternate_stack(sp);
  Frame* top = pe_top;
  while (top->slot < sp) --top;
  if (top != pe_top) pop_to(top);
}

static UInt hash_of(ContextId context, UInt block) {
  const ULong mixed = ((ULong)context << 32 | block) * 0x9e3779b97f4a7c15ULL;
  return (UInt)(mixed >> 32) ^ (UInt)(mixed >> 52);
}

static UInt* place_of(ContextId context, UInt block) {
  UInt at = hash_of(context, block) & (table_size - 1);
  while (table[at] != 0) {
    const Trace* const trace = trace_at(table[at]);
    if (trace->context == context && trace->block == block) break;
    at = (at + 1) & (table_size - 1);
  }
  return &table[at];
}

static void grow_table(void) {
  VG_(free)(table);
  table_size *= 2;
  table = VG_(calloc)("pe.traces", table_size, sizeof *table);
  for (UInt i = 1; i < trace_count; ++i) *place_of(trace_at(i)->context, trace_at(i)->block) = i;
}

/* Returns the first of a new trace's handles. If none are left, it is that of all superblocks without handles. */
static Handle take_handles(UInt count) {
  if (count >= FIRST_HANDLE || handle_end > LAST_HANDLE - count) return 1;
  const Handle base = handle_end;
  handle_end += count;
  return base;
}

static UInt trace_of(ContextId context, Block* block) {
  UInt* place = place_of(context, block->id);
  if (*place != 0) return *place;
  if (trace_count == MAX_TRACES) VG_(tool_panic)("too many superblocks in different contexts");
  if (trace_count * 2 > table_size) {
    grow_table();
    place = place_of(context, block->id);
  }
  *place = trace_count;
  *trace_at(trace_count) =
      (Trace){.context = context, .block = block->id, .base = take_handles(block->slot_count)};
  return trace_count++;
}

void pe_enter(Block* block) {
  block->trace = trace_of(pe_context, block);
  block->context = pe_context;
  block->base = trace_at(block->trace)->base;
}

static ContextId callee_of(Block* block) {
  if (block->context != pe_context) pe_enter(block);
  Trace* const trace = trace_at(block->trace);
  if (LIKELY(trace->callee != 0)) return trace->callee;
  const Context* const caller = context_at(pe_context);
  if (caller->depth >= MAX_DEPTH) return trace->callee = pe_context;
  const Context callee = {.return_address = block->return_address,
                          .parent = pe_context,
                          .thread = caller->thread,
                          .module = block->module,
                          .depth = caller->depth + 1};
  return trace->callee = make_context(pe_context, &callee);
}

/* `sp` points to the return address that the call has pushed. */
void pe_call(Block* block, Addr sp) {
  pop_below(sp + 1);
  push((Frame){.slot = sp, .context = callee_of(block)});
}

/* `sp` is above the return address. */
void pe_return(Addr sp, ULong result) {
  if (UNLIKELY(pe_thread->allocating_depth != 0) && pe_top->slot < sp &&
      pe_depth() == pe_thread->allocating_depth)
    pe_leave_allocation(result);
  pop_below(sp);
}

/* After an indirect jump, such as longjmp's. */
void pe_unwind(Addr sp) {
  pop_below(sp);
}

void pe_set_syscall(Handle handle) {
  pe_thread->syscall = handle;
}

Handle pe_syscall_handle(ThreadId tid) {
  return by_tid[tid] == NULL ? 0 : by_tid[tid]->syscall;
}

UInt pe_depth(void) {
  return (UInt)(pe_top - pe_thread->frames);
}

UInt pe_context_count(void) {
  return context_count;
}

UInt pe_trace_count(void) {
  return trace_count;
}

UInt pe_thread_count(void) {
  return thread_count;
}

Handle pe_handle_end(void) {
  return handle_end;
}

Thread* pe_thread_at(UInt index) {
  return threads[index];
}

void pe_init_contexts(void) {
  table_size = 1u << 14;
  table = VG_(calloc)("pe.traces", table_size, sizeof *table);
  pe_reserve(PE_CONTEXTS, (SizeT)MAX_CONTEXTS * sizeof(Context));
  pe_reserve(PE_TRACES, (SizeT)MAX_TRACES * sizeof(Trace));
  pe_reserve(PE_COUNTS, PE_ALL_HANDLES * sizeof(ULong));
  VG_(track_pre_thread_ll_create)(on_create);
  VG_(track_pre_thread_first_insn)(on_first_instruction);
  VG_(track_pre_thread_ll_exit)(on_exit);
  VG_(track_start_client_code)(on_run);
  VG_(track_pre_deliver_signal)(on_signal);
  VG_(track_post_deliver_signal)(on_signal_return);
}

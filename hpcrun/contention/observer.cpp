#include "hpcrun/contention/observer.h"

#include <errno.h>
#include <string.h>

#include <new>

#include "hpcrun/cct/access_stream.h"
#include "hpcrun/contention/contention_watch.h"
#include "hpcrun/contention/interrupted.h"
#include "hpcrun/contention/parallelism.h"
#include "hpcrun/contention/profiler_data.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/measurement/progress.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/memory_events.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

struct MemoryThread {
  PlanCache plans;
  LoopProgress loop;
  AccessStream accesses;
  const Stack* stack;  // of the thread, in a handler; nullptr: not walked yet
  const ucontext_t* interrupted;
  Stack walked;
  uint32_t generation;  // walk_generation() of the plans
  bool reads_clock;     // for its ready time; it may have none
};

constinit std::atomic<const SharingUser*> sharing_user{nullptr};

namespace {

ThreadSlot<MemoryThread> slot;

constexpr uint32_t kMaxThreads = 64 * 1024;
constexpr NodeId kThreadRoot = 0;

ContentionWatch* watch;
alignas(ContentionWatch) unsigned char watch_memory[sizeof(ContentionWatch)];
Parallelism parallelism;
std::atomic<int>* tids;  // by index; 0 for threads that ended or were never sampled

int tid_of(uint32_t thread) noexcept {
  return thread < kMaxThreads ? tids[thread].load(std::memory_order_relaxed) : 0;
}

uint64_t bits_of(const Evidence& evidence) noexcept {
  uint64_t bits = 0;
  if (reads(evidence.access.kind)) bits |= kAccessReads;
  if (writes(evidence.access.kind)) bits |= kAccessWrites;
  if (evidence.is_seen) bits |= kAccessSeen;
  if (evidence.is_exact) bits |= kAccessExact;
  if (evidence.access.is_locked) bits |= kAccessLocked;
  return bits;
}

const Stack& stack_of(ThreadState& thread) noexcept {
  MemoryThread& memory = *slot.of(thread);
  if (!memory.stack) {
    memory.walked = thread.unwinder.walk(*memory.interrupted);
    memory.stack = &memory.walked;
  }
  return *memory.stack;
}

// Writes an access down in the context of its instruction, which differs slightly from where the thread
// stopped.
void report(uint32_t, const Evidence& evidence) noexcept {
  ThreadState& thread = *this_thread();
  const Stack& stack = stack_of(thread);
  if (stack.depth == 0) return;
  const FrameKey leaf = stack.frames[0];
  const FrameKey instruction = frame_of(reinterpret_cast<const void*>(evidence.access.instruction));
  if (instruction) stack.frames[0] = instruction;
  const NodeId node = thread.tree.insert(stack.frames, stack.depth);
  stack.frames[0] = leaf;
  if (node == kNoNode) return;
  AccessStream& accesses = slot.of(thread)->accesses;
  const DataLocation location = location_of(evidence.access.address);
  const AccessRecord record{evidence.time_ns,      evidence.weight_ns, evidence.access.address,
                            evidence.access.bytes, bits_of(evidence),  location.object};
  if (evidence.hardware.period)
    accesses.append(record, evidence.hardware, node);
  else
    accesses.append(record, node);
  if (const SharingUser* const user = sharing_user.load(std::memory_order_acquire))
    user->access({evidence.time_ns, evidence.access.address, evidence.weight_ns, location.object,
                  location.begin, location.site, thread.index, evidence.access.bytes, evidence.access.kind,
                  evidence.is_seen, evidence.is_exact || evidence.hardware.period != 0,
                  evidence.access.is_locked});
}

// Writes progress down at the thread's root: the context does not matter, because the line identifies it.
void report_progress(uint32_t, uint64_t line, uint64_t time_ns, const Progress& progress) noexcept {
  slot.of(*this_thread())
      ->accesses.append({time_ns, progress.cpu_ns, line, progress_bytes(progress.value, progress.is_alone),
                         kAccessProgress, progress_object(progress.change)},
                        kThreadRoot);
}

MemoryThread* memory_of(ThreadState& thread) noexcept {
  if (MemoryThread* const known = slot.of(thread)) return known;
  if (thread.index >= kMaxThreads) return nullptr;
  void* const memory = thread.arena.allocate(sizeof(MemoryThread));
  if (!memory) return nullptr;
  auto* const made = static_cast<MemoryThread*>(memory);  // zeroed memory is a valid empty one
  if (!made->accesses.attach(process_state.file, thread.arena, thread.index)) return nullptr;
  tids[thread.index].store(thread.tid, std::memory_order_relaxed);
  const StackBounds stack = thread.unwinder.stack();
  process_state.file.write_thread_memory(
      {thread.index, stack.low, stack.high, reinterpret_cast<uint64_t>(__builtin_thread_pointer())});
  slot.set(thread, made);
  return made;
}

// Drops the plans after code was unloaded: other code may have its addresses.
MemoryThread* ready_memory_of(ThreadState& thread) noexcept {
  MemoryThread* const memory = memory_of(thread);
  if (!memory || memory->generation == walk_generation()) return memory;
  memory->generation = walk_generation();
  memset(static_cast<void*>(&memory->plans), 0, sizeof memory->plans);
  return memory;
}

StoppedAt stopped_at(ThreadState& thread, const ucontext_t& context, uint64_t now) noexcept {
  const auto pc = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  return {machine_state_of(context), pc, thread.unwinder.instruction_before(pc), now};
}

WatchedThread watched(const ThreadState& thread, MemoryThread& memory) noexcept {
  const StackBounds stack = thread.unwinder.stack();
  return {thread.index, stack.low, stack.high, &memory.plans, &memory.loop};
}

uint64_t process_cpu_ns() noexcept {
  return sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

Parallelism::Ready ready_time(ThreadState& thread, MemoryThread& memory, uint64_t now) noexcept {
  if (!parallelism.asks_for_ready_time()) return {true, 0};
  const bool is_first = !memory.reads_clock;
  memory.reads_clock = true;
  if (is_first && thread.run_queue.descriptor() < 0) thread.run_queue.open(thread.tid);
  if (thread.run_queue.descriptor() < 0) return {false, 0};
  const uint64_t ready_ns = thread.run_queue.advance(now);
  return {true, is_first ? 0 : ready_ns};
}

// Determines whether threads alternate, in runs whose sampling rate is low at rest. Not if threads may be
// converted, whose clocks differ, or if the trace uses the wall clock, which reads the same clocks.
Parallelism::Threads running_threads(ThreadState& thread, MemoryThread& memory, uint64_t now) noexcept {
  if (process_state.search_descriptor == kNoDescriptor || may_convert_threads() ||
      process_state.traces_wall_clock)
    return Parallelism::Threads::Together;
  return parallelism.sampled(now, ready_time(thread, memory, now), process_cpu_ns);
}

// True for code of the runtime, which is sampled as well. Its tables are not data of the program.
bool is_own(uint64_t ip) noexcept {
  const uint16_t own = frame_module(frame_of(reinterpret_cast<const void*>(&is_own)));
  return own != kModuleNone && frame_module(frame_of(reinterpret_cast<const void*>(ip))) == own;
}

void on_sample(ThreadState& thread, const RecordedSample& sample) noexcept {
  if (!sample.is_cpu_time || thread.is_converted) return;
  MemoryThread* const memory = ready_memory_of(thread);
  if (!memory) return;
  const uint64_t now = sample.now_ns;
  memory->stack = &sample.stack;
  if (FrequentCalls* const calls = heap.calls.load(std::memory_order_acquire)) calls->renew();
  if (is_alone()) return memory->loop.clear();
  watch->pass(now);
  const Parallelism::Threads threads = running_threads(thread, *memory, now);
  if (threads == Parallelism::Threads::InTurns) {
    watch->call_off_search(now);
    return memory->loop.clear();
  }
  const StoppedAt at = stopped_at(thread, sample.context, now);
  if (is_own(at.pc)) return memory->loop.clear();
  watch->sample(watched(thread, *memory), at, sample.weight, threads == Parallelism::Threads::Together);
}

void on_hit(ThreadState& thread, const ucontext_t& context, uint64_t signal_data, uint64_t now) noexcept {
  MemoryThread* const memory = ready_memory_of(thread);
  if (!memory) return;
  memory->stack = nullptr;
  memory->interrupted = &context;
  watch->hit(watched(thread, *memory), stopped_at(thread, context, now), signal_data);
}

// A ring has room for fewer; if there are more, they arrived while it was read.
constexpr uint32_t kMaxRecords = 128;

bool next_of_program(MemoryRing& ring, MemoryRecord& out) noexcept {
  for (uint32_t i = 0; i < kMaxRecords && ring.next(out); ++i)
    if (!is_own(out.ip)) return true;
  return false;
}

// The last record raised the signal, so it was made where the thread stopped. For earlier records, which
// arrived while signals were blocked, only the instruction is known.
void on_records(ThreadState& thread, const ucontext_t& context, uint32_t event, uint64_t) noexcept {
  MemoryThread* const memory = ready_memory_of(thread);
  if (!memory) return;
  memory->interrupted = &context;
  const MemoryEvent kind = process_state.config.events[event].memory;
  MemoryRing& ring = thread.events[event].records;
  MemoryRecord next;
  bool more = next_of_program(ring, next);
  for (uint32_t i = 0; i < kMaxRecords && more; ++i) {
    const MemoryRecord record = next;
    more = next_of_program(ring, next);
    FrameKey leaf = frame_of(reinterpret_cast<const void*>(record.ip));
    if (!leaf) leaf = make_frame(kModuleNone, record.ip);
    const Stack leaf_alone{&leaf, 1, StackReason::TooDeep};
    memory->stack = more ? &leaf_alone : nullptr;
    SampledAccess access;
    if (decode_access(record, kind, {read_program_memory, nullptr}, access))
      watch->sampled_access(watched(thread, *memory), access);
  }
}

constexpr char kInUse[] =
    "Contention was not searched for all the time: a debugger or another profiler uses the processor's "
    "breakpoints.";
constexpr char kRefused[] =
    "Contention cannot be confirmed here: the kernel refuses breakpoints (perf_event_open); "
    "kernel.perf_event_paranoid of 2 or less and a seccomp profile that lets it pass allow them.";

constexpr char kNoMemorySamples[] =
    "Contention was searched for with breakpoints: the kernel refuses memory samples (PEBS, IBS); `sysctl "
    "kernel.perf_event_paranoid=1` may allow them.";

ContentionSource source_in_use() noexcept {
  if (!records_transfers()) return ContentionSource::Breakpoints;
  return process_state.config.memory_hardware == MemoryHardware::Ibs ? ContentionSource::Ibs
                                                                     : ContentionSource::Pebs;
}

// Begins or ends a search: with it, the sampling rate is high and all allocations are reported.
void search(bool is_on) noexcept {
  if (FrequentCalls* const calls = heap.calls.load(std::memory_order_acquire)) calls->search(is_on);
  sample_often(is_on);
}

const char* note_of(int failure) noexcept {
  if (failure == 0) return nullptr;
  return failure == -ENOSPC ? kInUse : kRefused;
}

// True if something may be found yet in what threads contend for.
bool may_find_more() noexcept {
  const SharingUser* const user = sharing_user.load(std::memory_order_acquire);
  return !user || user->may_find_more();
}

bool has_found_all() noexcept {
  const SharingUser* const user = sharing_user.load(std::memory_order_acquire);
  return user && user->has_found_all();
}

std::atomic<bool> is_populated{false};

void start() noexcept {
  if (!process_state.config.contention) return;
  if (tids) unmap_own_memory(tids, kMaxThreads * sizeof *tids);  // the parent's, in a forked child
  tids = static_cast<std::atomic<int>*>(map_own_memory(kMaxThreads * sizeof *tids, InChild::Copy));
  if (!tids) return;
  watch = new (watch_memory) ContentionWatch;
  is_populated.store(false, std::memory_order_relaxed);
  const ContentionSource source = source_in_use();
  const bool samples_accesses = source != ContentionSource::Breakpoints;
  const bool has_rates = process_state.search_descriptor != kNoDescriptor;
  if (!watch->start({tid_of,
                     report,
                     report_progress,
                     {read_program_memory, nullptr},
                     samples_accesses,
                     has_rates ? search : nullptr,
                     may_find_more,
                     has_found_all},
                    breakpoint_signal_data(kBreakpointSignalData, slot)))
    return;
  process_state.file.counter(Counter::LooksForContention)
      .store(static_cast<uint64_t>(source), std::memory_order_relaxed);
  if (!samples_accesses && process_state.config.memory_hardware != MemoryHardware::None)
    process_state.file.write_note(kNoMemorySamples, NoteKind::Contention);
  follow_allocations();
  switch_on(slot);
}

// Populates the watch's memory once, before the process has several threads.
void populate() noexcept {
  if (is_on(slot) && !is_populated.exchange(true, std::memory_order_relaxed)) watch->populate();
}

uint64_t signals() noexcept {
  return is_on(slot) ? uint64_t{1} << (SIGTRAP - 1) : 0;
}

void finish() noexcept {
  if (!is_on(slot)) return;
  switch_off(slot);
  watch->stop();
  if (const char* const note = note_of(watch->failure()))
    process_state.file.write_note(note, NoteKind::Contention);
}

void end_thread(ThreadState& thread) noexcept {
  MemoryThread* const memory = slot.of(thread);
  if (!memory) return;
  tids[thread.index].store(0, std::memory_order_relaxed);
  memory->accesses.seal();
  slot.set(thread, nullptr);
}

void note_module(const ModuleInfo& module) noexcept {
  note_profiler_data(module.path, module.start, module.end);
}

void reset_after_fork() noexcept {
  switch_off(slot);
}

}  // namespace

bool searches_contention() noexcept {
  return is_on(slot);
}

constexpr Hooks kContentionHooks{.kind = &slot,
                                 .start = start,
                                 .signals = signals,
                                 .finish = finish,
                                 .fork_child = reset_after_fork,
                                 .module = note_module,
                                 .second_thread = populate,
                                 .thread_end = end_thread,
                                 .sample = on_sample,
                                 .hit = on_hit,
                                 .records = on_records};

}  // namespace hpcrun

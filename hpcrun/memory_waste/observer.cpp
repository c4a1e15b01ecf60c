#include "hpcrun/memory_waste/observer.h"

#include <errno.h>

#include <atomic>
#include <csignal>

#include "hpcrun/heap/heap.h"
#include "hpcrun/measurement/waste_metrics.h"
#include "hpcrun/memory_waste/waste_thread.h"
#include "hpcrun/sample/handler.h"

namespace hpcrun {

namespace {

ThreadSlot<WasteThread> slot;

std::atomic<int> failure{0};  // a negated errno

constexpr char kInUse[] =
    "Memory waste was not searched for all the time: a debugger or another profiler uses the processor's "
    "breakpoints.";
constexpr char kRefused[] =
    "Memory waste cannot be measured here: the kernel refuses breakpoints (perf_event_open); "
    "kernel.perf_event_paranoid of 2 or less and a seccomp profile that lets it pass allow them.";
constexpr char kNoDescriptors[] =
    "Memory waste was not searched for in some threads: file descriptors are used up; raise `ulimit -n`.";
constexpr char kNoKernel[] =
    "Memory waste: loads by the kernel, such as those of write(), were not seen, so bytes that only the "
    "kernel "
    "loads appear as dead stores; `sysctl kernel.perf_event_paranoid=1` lets prof see them.";

WasteThread* waste_of(ThreadState& thread) noexcept {
  if (WasteThread* const known = slot.of(thread)) return known;
  void* const memory = thread.arena.allocate(sizeof(WasteThread));
  auto* const made = static_cast<WasteThread*>(memory);  // zeroed memory is a valid empty one
  if (!made || !made->attach(thread)) return nullptr;
  const StackBounds stack = thread.unwinder.stack();
  process_state.file.write_thread_memory(
      {thread.index, stack.low, stack.high, reinterpret_cast<uint64_t>(__builtin_thread_pointer())});
  slot.set(thread, made);
  return made;
}

void on_sample(ThreadState& thread, const RecordedSample& sample) noexcept {
  if (!sample.is_cpu_time || thread.is_converted) return;
  WasteThread* const waste = waste_of(thread);
  if (!waste) return;
  const int error = waste->sample(thread, sample, process_state.config.waste_kinds,
                                  breakpoint_signal_data(kBreakpointSignalData, slot));
  if (error) failure.store(error, std::memory_order_relaxed);
}

void on_hit(ThreadState& thread, const ucontext_t& context, uint64_t signal_data, uint64_t now) noexcept {
  if (WasteThread* const waste = slot.of(thread)) waste->hit(thread, context, signal_data, now);
}

void on_late_hit(ThreadState& thread, uint64_t signal_data) noexcept {
  if (WasteThread* const waste = slot.of(thread)) waste->late_hit(thread, signal_data);
}

// Allocations are not followed: those made before are not known.
void start_late() noexcept {
  const Config& config = process_state.config;
  if (!config.waste_kinds || config.contention || config.isolates()) return;
  failure.store(0, std::memory_order_relaxed);
  announce(kWasteMetrics, process_state.file);
  process_state.file.counter(Counter::LooksForWaste)
      .store(kWasteSampled | config.waste_kinds, std::memory_order_relaxed);
  switch_on(slot);
}

void start() noexcept {
  start_late();
  if (is_on(slot)) follow_allocations();
}

uint64_t signals() noexcept {
  return is_on(slot) ? uint64_t{1} << (SIGTRAP - 1) : 0;
}

const char* note_of(int error) noexcept {
  if (error == 0) return nullptr;
  return error == -ENOSPC ? kInUse : error == -EMFILE ? kNoDescriptors : kRefused;
}

void finish() noexcept {
  if (!is_on(slot)) return;
  switch_off(slot);
  if (const char* const note = note_of(failure.load(std::memory_order_relaxed)))
    process_state.file.write_note(note);
  if (excludes_kernel_accesses()) process_state.file.write_note(kNoKernel);
}

void end_thread(ThreadState& thread) noexcept {
  WasteThread* const waste = slot.of(thread);
  if (!waste) return;
  waste->end(thread);
  slot.set(thread, nullptr);
}

// The child has neither the breakpoints nor the threads' states.
void reset_after_fork() noexcept {
  switch_off(slot);
}

}  // namespace

constexpr Hooks kMemoryWasteHooks{.kind = &slot,
                                  .start = start,
                                  .start_late = start_late,
                                  .signals = signals,
                                  .finish = finish,
                                  .fork_child = reset_after_fork,
                                  .thread_end = end_thread,
                                  .sample = on_sample,
                                  .hit = on_hit,
                                  .late_hit = on_late_hit};

}  // namespace hpcrun

#include "hpcrun/process/forks.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "hpcrun/device/life.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/own_ranges.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/redirection.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/start.h"
#include "hpcrun/process/thread_stack.h"
#include "hpcrun/sample/first_period.h"
#include "hpcrun/sample/late_threads.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sample/thread_list.h"
#include "hpcrun/sample/waiting.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

// Closes the parent's events and clocks; its file is closed already.
void close_inherited_descriptors() noexcept {
  constexpr unsigned kLast = ~0u;
  for (int own = next_own_descriptor(0, kLast); own >= 0; own = next_own_descriptor(0, kLast))
    is_perf_event(own) || is_run_queue_clock(own) ? close_own_descriptor(own) : remove_own_descriptor(own);
  process_state.inherited_descriptor = kNoDescriptor;
  process_state.search_descriptor = kNoDescriptor;
  process_state.searches.store(false, std::memory_order_relaxed);
  process_state.inherited_event = -1;
}

// The bounds of the stack of the thread that forks, which becomes the child's first thread. The thread's
// state also contains them, but it is not copied.
constinit StackBounds forking_stack{};

HPCRUN_FORK_PATH void before_fork() noexcept {
  // A process that waits for its first sample has one thread, the one that forked it.
  if (!waits_for_first_sample()) {
    const ThreadState* const thread = is_sampling_here() ? this_thread() : nullptr;
    const StackBounds stack = thread ? thread->unwinder.stack() : StackBounds{};
    if (forking_stack.low != stack.low || forking_stack.high != stack.high) forking_stack = stack;
  }
  leave_waits();  // otherwise the child would begin with them
  modules_before_fork();
  hold_threads();
  hold_devices();
}

HPCRUN_FORK_PATH void after_fork_in_parent() noexcept {
  let_devices_go();
  let_threads_go();
}

// Counts processes without a file of their own, in the file of the nearest ancestor that has one.
HPCRUN_FORK_PATH void count_unsampled_child(int by) noexcept {
  process_state.file.counter(Counter::UnsampledChildren)
      .fetch_add(static_cast<uint64_t>(by), std::memory_order_relaxed);
}

// Must be called before memory is mapped and threads are listed: the parent's were not copied.
void reset_own_memory_after_fork() noexcept {
  reset_threads_after_fork();
  Arena::reset_after_fork();
  keep_own_ranges_of_child();
}

void reset_recording_after_fork() noexcept {
  redirection_after_fork();
  process_state.file.detach();
  close_inherited_descriptors();
  // A program that took SIGTRAP back keeps it in its children.
  if (process_state.timer_event >= 0) process_state.config.trigger = Trigger::Timer;
  process_state.timer_event = -1;
  call_hooks<&Hooks::fork_child>();
}

// Waits with the parent's file open, only for the counters in it. The file is not this process's, so nothing
// else is written to it.
HPCRUN_FORK_PATH bool wait_for_first_sample(uint64_t began_cpu_ns) noexcept {
  count_unsampled_child(1);  // first: a page of the file that is read before it is written faults twice
  if (forking_stack.high && can_wait_for_first_sample() && arm_first_period()) {
    const uint64_t took = process_state.first_period.cpu_ns - began_cpu_ns;
    for (const Counter counter : {Counter::HandlerNanoseconds, Counter::StartNanoseconds})
      process_state.file.counter(counter).fetch_add(took, std::memory_order_relaxed);
    return true;
  }
  count_unsampled_child(-1);
  return false;
}

HPCRUN_FORK_PATH void after_fork_in_child() noexcept {
  after_fork_in_parent();
  const bool waited = process_state.first_period.is_waiting.exchange(false);
  if (!waited && !process_state.sampling.load(std::memory_order_relaxed)) return;
  const uint64_t began_cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  process_state.parent_pid = process_state.pid;
  process_state.pid = sys_getpid();
  // Discards the parent's state. Its file, events and threads belong to the parent alone, and its memory was
  // not copied. Its list of threads is not read before measuring starts.
  thread_state = nullptr;
  process_state.sampling.store(false, std::memory_order_relaxed);
  process_state.at_work.store(0, std::memory_order_relaxed);
  process_state.thread_count.store(0, std::memory_order_relaxed);
  // Each page that is written to from here on is copied for the child.
  reset_devices_after_fork();
  modules_after_fork();
  virtual_signals_after_fork();
  if (wait_for_first_sample(began_cpu_ns)) return;
  reset_own_memory_after_fork();
  if (LateThreads* late = process_state.late.exchange(nullptr)) late->destroy();
  reset_recording_after_fork();
  process_state.is_forked = true;
  start_sampling(forking_stack.high ? forking_stack : stack_of_caller());
  process_state.is_forked = false;
}

// Calls the function on the stack that ends at `top`, because the interrupted thread's stack may be small.
[[gnu::noinline]] void call_on_stack(char* top, void (*function)() noexcept) noexcept {
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "call *%[function]\n\t"
      "movq %%rbx, %%rsp"
      : [top] "+r"(top), [function] "+r"(function)
      :
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "memory", "cc");
}

void start_as_forked() noexcept {
  process_state.is_forked = true;
  reset_own_memory_after_fork();
  start_waiting_child(forking_stack);
  process_state.is_forked = false;
}

// Called in handlers, and in calls of the program that may be made in handlers. The thread has no state yet,
// so no interrupted code of the runtime can be using what is changed here.
bool start_from_first_period(bool by_sample) noexcept {
  constexpr size_t kStackBytes = size_t{64} * 1024;
  if (!waits_for_first_sample() || sys_gettid() != process_state.pid) return false;
  const int error = errno;
  void* const stack =
      sys_mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || !process_state.first_period.is_waiting.exchange(false)) return false;
  count_unsampled_child(-1);
  call_on_stack(static_cast<char*>(stack) + kStackBytes, start_as_forked);
  if (process_state.sampling.load(std::memory_order_relaxed)) end_first_period(by_sample);
  sys_munmap(stack, kStackBytes);
  errno = error;
  return true;
}

}  // namespace

void follow_forks() noexcept {
  process_state.first_period.start = start_from_first_period;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void leave_uncounted_before_exec() noexcept {
  count_unsampled_child(-1);
}

void count_after_failed_exec() noexcept {
  count_unsampled_child(1);
}

}  // namespace hpcrun

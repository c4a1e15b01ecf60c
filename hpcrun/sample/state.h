#pragma once
// The two places where the runtime keeps what it knows: one ThreadState per sampled thread, reached through
// an initial-exec thread-local pointer, and the one ProcessState.

#include <sys/single_threaded.h>
#include <ucontext.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/own_process.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/measurement/thread_name.h"
#include "hpcrun/measurement/writer.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/cpu_clock.h"
#include "hpcrun/sample/memory_ring.h"
#include "hpcrun/sample/run_queue.h"
#include "hpcrun/sample/sample_brake.h"
#include "hpcrun/sample/split_clock.h"
#include "hpcrun/sample/task_clock.h"
#include "hpcrun/unwind/unwinder.h"

namespace hpcrun {

constexpr int kNoDescriptor = -1;

// What a thread remembers of one event.
struct EventState {
  uint64_t last = 0;          // the event's clock or counter at the last sample
  SampledCpuClock cpu_clock;  // instead of `last` where the perf clock counts user and kernel
  SplitCpuClock split_clock;  // and where it counts user code only
  SampleBrake brake;
  int descriptor = kNoDescriptor;  // of an event of this thread alone
  MemoryRing records;              // of that event, where it is of memory
  timer_t timer{};
  bool has_timer = false;
  bool timer_rests = false;     // slowed down while measuring is paused
  bool had_lone_rate = false;   // at the last sample (search_clock.h)
  uint64_t not_elapsed_ns = 0;  // what the first sample stands for besides what elapsed (first_period.h)
  uint64_t resumed_ns = 0;      // the end of the last pause that the last sample knew of
  uint64_t paused_ns = 0;       // all pauses together, at the last sample of the wall clock
  // While the thread runs as a process of its own (converted_thread.h): an event of that alone, whether its
  // first period goes on, which is another, and `last` of the counter at home.
  int converted_thread_descriptor = kNoDescriptor;
  bool converted_thread_begins = false;
  uint64_t last_at_home = 0;
};

// A call that samples do not interrupt (waiting.h).
struct OpenWait {
  const void* function = nullptr;  // of the C library, which stands for the call in call paths
  uint64_t since_ns = 0;           // CLOCK_MONOTONIC
  ValueCell* noted = nullptr;      // since_ns in the file, for a process that is killed
};

// A signal handler of the program's that runs in such a call may make another.
constexpr uint32_t kMostOpenWaits = 4;

struct DeviceThread;  // hpcrun/device/observer.h

struct MemoryThread;  // hpcrun/memory/observer.h

class AllocationContexts;  // hpcrun/memory/allocation_contexts.h

struct SyncThread;  // hpcrun/sync/thread.h

struct ThreadState {
  Arena arena;
  Unwinder unwinder;
  CallingContextTree tree;
  Trace trace;
  EventState events[kMostEvents];
  uint64_t last_trace_ns = 0;
  uint64_t last_trace_cpu_ns = 0;
  uint64_t run_queue_before_ns = 0;  // run_queue_ns() as it came to be measured
  RunQueueClock run_queue;  // of threads whose trace follows the wall clock, or that seem to take turns
  bool is_converted = false;  // the thread runs as a process of its own
  TaskClock tasks;
  RunQueueClock converted_thread_run_queue;  // of that process
  size_t noted_bytes = 0;        // of the arena at the last note_memory()
  uint32_t samples = 0;          // signals taken
  uint32_t index = 0;            // 0 is the thread that ran the runtime's constructor
  int tid = 0;
  std::atomic<uint64_t> handle{0};  // pthread_t; 0: not known yet
  ThreadName name;
  uint64_t cpu_before_ns = 0;      // the thread's CPU time when measuring began
  ThreadState* next = nullptr;     // in the list of all threads
  bool taken = false;              // late_threads.h
  OpenWait waits[kMostOpenWaits];  // the innermost last
  uint32_t open_waits = 0;
  uint64_t next_wait_walk_ns = 0;  // walks that find the contexts of waits are not more than samples are
  uint64_t noted_caller = 0;       // the last of these: return address and frame of the call
  uint64_t noted_frame = 0;
  ValueCell* noted_wait = nullptr;
  uint64_t short_caller = 0;  // of waits that were noted without a walk, the last
  ValueCell* short_wait = nullptr;
  DeviceThread* device = nullptr;             // what is known of the thread where devices are used
  MemoryThread* memory = nullptr;             // the same where contention is looked for
  AllocationContexts* allocations = nullptr;  // the same where its allocations are followed
  SyncThread* sync = nullptr;                 // the same where locks are followed
  const void* device_function = nullptr;      // of a device's interface, in which the thread is
  // Set while the thread's structures are being changed: a signal that arrives then is dropped.
  volatile sig_atomic_t busy = 0;
};

// How an event is being sampled in this process.
enum class Source : uint8_t {
  SigtrapAll,      // perf software clock, attr.sigtrap, user and kernel
  SigtrapUser,     // the same, user only, with a thread CPU timer for system time
  CpuTimer,        // POSIX per-thread CPU timer
  Setsig,          // perf software clock with F_SETSIG
  MonotonicTimer,  // REALTIME
  PerfCounter,     // a libpfm4 event, one descriptor per thread, attr.sigtrap
  MemoryRecords,   // the same of memory accesses, with what is recorded of each
  None
};

constexpr size_t kMaxDirectory = 4096;

class LateThreads;

struct MemoryObserver {
  void (*sample)(ThreadState&, const ucontext_t&, const Stack&, uint64_t weight_ns, uint64_t now) noexcept;
  void (*hit)(ThreadState&, const ucontext_t&, uint64_t signal_data, uint64_t now) noexcept;
  void (*records)(ThreadState&, const ucontext_t&, uint32_t event, uint64_t now) noexcept;
};

// What a forked child starts with that waits for its first sample (first_period.h).
struct FirstPeriod {
  std::atomic<bool> is_waiting{false};
  bool (*start)(bool by_sample) noexcept = nullptr;  // of the process; false: it goes on waiting, or ended
  uint64_t began_ns = 0;                             // CLOCK_MONOTONIC; 0: the process did not wait
  uint64_t cpu_ns = 0;                               // the thread's CPU time then
  uint64_t not_elapsed_ns = 0;  // of the event's period, as it was armed; 0 once it runs from its beginning
  timer_t timer{};
  bool has_timer = false;
};

struct ProcessState {
  MeasurementFile file;
  FirstPeriod first_period;
  Config config;
  Source sources[kMostEvents] = {};
  int inherited_descriptor = kNoDescriptor;  // the perf event that all threads share
  int inherited_event = -1;                  // its index in config.events
  int search_descriptor = kNoDescriptor;     // another of that event, which comes often (search_clock.h)
  std::atomic<bool> searches{false};         // that one is on
  uint32_t rate_of_several = 0;              // of it, from the second thread on; 0: it has that rate
  int timer_event = -1;                      // the event that timers took over from it, or -1
  int pid = 0;
  int parent_pid = 0;                           // in a forked child
  bool began_debugged = false;                  // under a debugger, which prof waits for
  int timer_signal = 0;                         // real-time signal of POSIX timers and F_SETSIG
  std::atomic<uint64_t> left_timer_signals{0};  // bit n-1: n was it before; some may be on their way
  // Descriptors have raised it at some time: in an attachment before this one, perhaps.
  std::atomic<bool> has_signals_of_descriptors{false};
  int isolation_signal = 0;     // of libhpcrun-isolate.so, or 0
  int spare_signal = 0;         // one that could take its place, or 0
  bool protects_waits = false;  // a source in use would interrupt system calls that wait (waiting.h)
  // The program has forbidden system calls of the runtime's, which has ended measuring.
  std::atomic<bool> is_restricted{false};
  // Sees each sample that was recorded, in the handler; nullptr: nobody does.
  std::atomic<void (*)(ThreadState&, NodeId, uint64_t now)> observer{nullptr};
  // Where contention is looked for: sees each sample of CPU time that was recorded, with the stack that was
  // walked, each signal of a breakpoint, and each of a memory event, with records in its ring.
  std::atomic<const MemoryObserver*> memory_observer{nullptr};
  // Where locks are followed: sees each sample of CPU time that was recorded, of so many ns.
  std::atomic<void (*)(ThreadState&, NodeId, uint64_t weight_ns) noexcept> work_observer{nullptr};
  // Code of the library that stands in front of locks, whose frames are left out of call paths.
  std::atomic<const void*> sync_code{nullptr};
  // Where system calls of the program are dispatched at times: has those of the calling thread pass or not,
  // and tells whether they did.
  std::atomic<bool (*)(bool passes) noexcept> let_calls_pass{nullptr};
  int wait_event = -1;  // the event that goes on while a thread waits, or -1
  bool traces_wall_clock = false;
  std::atomic<bool> lacks_run_queue{false};       // a note says so
  std::atomic<bool> lacks_memory_records{false};  // the same, of some threads
  std::atomic<uint32_t> thread_count{0};
  std::atomic<size_t> table_bytes{0};  // of unwind tables, for note_memory()
  std::atomic<bool> sampling{false};
  bool starting = false;                           // start_late() is at work
  bool is_forked = false;                          // a forked child starts, at any instruction of it
  std::atomic<uint32_t> at_work{0};                // handlers, and threads that begin or end
  std::atomic<LateThreads*> late{nullptr};         // in a process to which the runtime was attached
  uint32_t attachment = 0;                         // how often it was detached; states of before are gone
  char directory[kMaxDirectory] = {};              // config.directory: a program may clear its environment
  std::atomic<bool>* warned_unwritable = nullptr;  // shared with all forked processes
};

// Raises the file's high-water mark of the memory that the runtime has mapped. Async-signal-safe.
void note_memory() noexcept;

extern constinit ProcessState process_state;
extern constinit thread_local ThreadState* thread_state;
extern constinit thread_local uint32_t thread_attachment;  // to which thread_state belongs
extern constinit thread_local bool thread_is_left_out;     // not to be measured, on purpose

// The calling thread's state; nullptr when it has none.
inline ThreadState* this_thread() noexcept {
  return thread_attachment == process_state.attachment ? thread_state : nullptr;
}
inline void set_this_thread(ThreadState* thread) noexcept {
  thread_state = thread;
  thread_attachment = process_state.attachment;
}

// Whoever ends the measuring waits for those who are at work with it: they say so before they look whether it
// is on.
class AtWork {
 public:
  AtWork() noexcept { process_state.at_work.fetch_add(1, std::memory_order_seq_cst); }
  ~AtWork() { process_state.at_work.fetch_sub(1, std::memory_order_release); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

// Is the calling process being sampled? A child of vfork shares this memory, and one of _Fork() or a raw
// clone() has a copy of it that leads to mappings it does not have: neither may touch what is ours.
inline bool is_sampling_here() noexcept {
  return process_state.sampling.load(std::memory_order_acquire) && process_state.pid == own_process();
}

// True in a forked child that is not sampled yet, and will be from its first sample on.
inline bool waits_for_first_sample() noexcept {
  return process_state.first_period.is_waiting.load(std::memory_order_relaxed) &&
         process_state.pid == own_process();
}

// Called where a process does what needs the runtime, or keeps it from starting later: a forked child that
// waits for its first sample starts now. Async-signal-safe.
inline void stop_waiting_for_first_sample() noexcept {
  if (process_state.first_period.is_waiting.load(std::memory_order_relaxed)) [[unlikely]]
    process_state.first_period.start(false);
}

// Has the process never had a thread but the calling one?
inline bool is_alone() noexcept {
  return __libc_single_threaded && process_state.thread_count.load(std::memory_order_relaxed) <= 1;
}

// While it lives, calls of the kernel that the calling thread makes are let pass where those of the program
// are dispatched (repair/isolate/session/session.h), and it stays the task that it is. For handlers, with the
// program's signals blocked.
class DirectCalls {
 public:
  DirectCalls() noexcept : let_(process_state.let_calls_pass.load(std::memory_order_acquire)) {
    if (let_) before_ = let_(true);
  }
  ~DirectCalls() {
    if (let_) let_(before_);
  }
  DirectCalls(const DirectCalls&) = delete;
  DirectCalls& operator=(const DirectCalls&) = delete;

 private:
  bool (*let_)(bool) noexcept;
  bool before_ = false;
};

}  // namespace hpcrun

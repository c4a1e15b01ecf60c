#pragma once
// Defines the state of the runtime: one ThreadState per sampled thread, reached through an initial-exec
// thread-local pointer, and the one ProcessState.

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
#include "hpcrun/hooks.h"
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

// A thread's state of one event.
struct EventState {
  uint64_t last = 0;          // the event's clock or counter at the last sample
  SampledCpuClock cpu_clock;  // replaces `last` if the perf clock counts user and kernel time
  SplitCpuClock split_clock;  // and if it counts user time only
  SampleBrake brake;
  int descriptor = kNoDescriptor;  // of an event of this thread alone
  MemoryRing records;              // of that event, if it is a memory event
  timer_t timer{};
  bool has_timer = false;
  bool timer_rests = false;     // slowed down while measuring is paused
  bool had_lone_rate = false;   // at the last sample (search_clock.h)
  uint64_t not_elapsed_ns = 0;  // part of the first sample's weight that did not elapse (first_period.h)
  uint64_t resumed_ns = 0;      // end of the last pause that the last sample took into account
  uint64_t paused_ns = 0;       // sum of all pauses, at the last sample of the wall clock
  // While the thread is converted (converted_thread.h): its own event; true during that event's first period,
  // which has another length; and `last` of the counter in the program's process.
  int converted_thread_descriptor = kNoDescriptor;
  bool converted_thread_begins = false;
  uint64_t last_at_home = 0;
};

// A call that samples do not interrupt (waiting.h).
struct OpenWait {
  const void* function = nullptr;  // the C library's, which represents the call in call paths
  uint64_t since_ns = 0;           // CLOCK_MONOTONIC
  ValueCell* noted = nullptr;      // since_ns in the file, in case the process is killed
};

// A signal handler of the program that runs in such a call may make another.
constexpr uint32_t kMaxOpenWaits = 4;

struct ThreadState {
  Arena arena;
  Unwinder unwinder;
  CallingContextTree tree;
  Trace trace;
  EventState events[kMaxThreadEvents];
  uint64_t last_trace_ns = 0;
  uint64_t last_trace_cpu_ns = 0;
  uint64_t run_queue_before_ns = 0;  // what was counted or elapsed before measuring; see run_queue_ns()
  RunQueueClock run_queue;           // closed in a first thread whose trace does not use the wall clock
  bool is_converted = false;         // the thread runs as a process
  TaskClock tasks;
  RunQueueClock converted_thread_run_queue;  // of the converted thread's process
  size_t noted_bytes = 0;                    // of the arena, at the last note_memory()
  uint32_t samples = 0;                      // signals handled
  uint32_t index = 0;                        // 0 is the thread that ran the runtime's constructor
  int tid = 0;
  std::atomic<uint64_t> handle{0};  // pthread_t; 0: not known yet
  ThreadName name;
  uint64_t cpu_before_ns = 0;      // the thread's CPU time when measuring began
  ThreadState* next = nullptr;     // in the list of all threads
  bool taken = false;              // late_threads.h
  OpenWait waits[kMaxOpenWaits];   // the innermost last
  uint32_t open_waits = 0;
  uint64_t next_wait_walk_ns = 0;  // limits walks for the contexts of waits to the sampling rate
  uint64_t noted_caller = 0;       // of the last such walk: return address and frame of the call
  uint64_t noted_frame = 0;
  ValueCell* noted_wait = nullptr;
  uint64_t short_caller = 0;  // of the last wait that was noted without a walk
  ValueCell* short_wait = nullptr;
  void* kinds[kMaxKinds] = {};            // what each kind of waste keeps of the thread (ThreadSlot)
  const void* device_function = nullptr;  // function of a device's interface that the thread is in
  // Set while the thread's structures are being changed: a signal that arrives then is dropped.
  volatile sig_atomic_t busy = 0;
};

// The method by which an event is sampled in this process.
enum class Source : uint8_t {
  SigtrapAll,      // perf software clock, attr.sigtrap, user and kernel
  SigtrapUser,     // the same, user only, with a thread CPU timer for system time
  CpuTimer,        // POSIX per-thread CPU timer
  Setsig,          // perf software clock with F_SETSIG
  MonotonicTimer,  // REALTIME
  PerfCounter,     // a libpfm4 event, one descriptor per thread, attr.sigtrap
  MemoryRecords,   // the same for memory accesses, with a record of each
  None
};

constexpr size_t kMaxDirectory = 4096;

class LateThreads;

// A kind of waste that keeps a T for each thread, in the thread's arena or elsewhere.
template <typename T>
class ThreadSlot : public Kind {
 public:
  // Returns nullptr if the thread has none.
  T* of(const ThreadState& thread) const noexcept { return static_cast<T*>(thread.kinds[number]); }
  void set(ThreadState& thread, T* state) const noexcept { thread.kinds[number] = state; }
};

// State of a forked child that waits for its first sample (first_period.h).
struct FirstPeriod {
  std::atomic<bool> is_waiting{false};
  // Starts the process; false: it still waits, or has ended.
  bool (*start)(bool by_sample) noexcept = nullptr;
  uint64_t began_ns = 0;  // CLOCK_MONOTONIC; 0: the process did not wait
  uint64_t cpu_ns = 0;    // the thread's CPU time at began_ns
  // The part of the event's first period that was skipped when it was armed; 0 once it runs from its start.
  uint64_t not_elapsed_ns = 0;
  timer_t timer{};
  bool has_timer = false;
};

struct ProcessState {
  MeasurementFile file;
  FirstPeriod first_period;
  Config config;
  Source sources[kMaxThreadEvents] = {};
  int inherited_descriptor = kNoDescriptor;  // the perf event that all threads share
  int inherited_event = -1;                  // its index in config.events
  int search_descriptor = kNoDescriptor;     // a second one of that event, with a high rate (search_clock.h)
  std::atomic<bool> searches{false};         // whether the second one is enabled
  int timer_event = -1;                      // the event that timers took over from the shared one, or -1
  int pid = 0;
  int parent_pid = 0;                           // in a forked child
  int timer_signal = 0;                         // real-time signal of POSIX timers and F_SETSIG
  std::atomic<uint64_t> left_timer_signals{0};  // bit n-1: n was timer_signal before; some may still arrive
  // Descriptors have raised the timer signal, possibly in an earlier attachment.
  std::atomic<bool> has_signals_of_descriptors{false};
  int spare_signal = 0;         // a signal that could replace timer_signal, or 0
  bool protects_waits = false;  // a source in use would interrupt system calls that wait (waiting.h)
  // The program has forbidden system calls that the runtime needs, so the runtime has stopped measuring.
  std::atomic<bool> is_restricted{false};
  // Code of the library that interposes on locks; its frames are removed from call paths.
  std::atomic<const void*> sync_code{nullptr};
  int wait_event = -1;  // the event whose clock advances while a thread waits, or -1
  bool traces_wall_clock = false;
  std::atomic<bool> lacks_run_queue{false};       // a note in the file states it
  std::atomic<bool> lacks_memory_records{false};  // the same for some threads
  std::atomic<uint32_t> thread_count{0};
  std::atomic<size_t> table_bytes{0};  // of unwind tables, for note_memory()
  std::atomic<bool> sampling{false};
  bool starting = false;                    // start_late() is running
  bool is_forked = false;                   // a forked child is starting, at any instruction of it
  std::atomic<uint32_t> at_work{0};         // handlers, and threads that are beginning or ending
  std::atomic<LateThreads*> late{nullptr};  // in a process that the runtime was attached to
  uint32_t attachment = 0;                  // number of detachments; states from before are invalid
};

// Raises the file's high-water mark of the memory mapped by the runtime. Async-signal-safe.
void note_memory() noexcept;

extern constinit ProcessState process_state;
extern constinit thread_local ThreadState* thread_state;
extern constinit thread_local uint32_t thread_attachment;  // the attachment that thread_state belongs to
extern constinit thread_local bool thread_is_left_out;     // deliberately not measured

// Returns the calling thread's state, or nullptr if it has none.
inline ThreadState* this_thread() noexcept {
  return thread_attachment == process_state.attachment ? thread_state : nullptr;
}
inline void set_this_thread(ThreadState* thread) noexcept {
  thread_state = thread;
  thread_attachment = process_state.attachment;
}

// Marks a thread that uses the measurement. The thread that ends measuring waits for all of these. Must be
// created before checking whether measuring is on.
class AtWork {
 public:
  AtWork() noexcept { process_state.at_work.fetch_add(1, std::memory_order_seq_cst); }
  ~AtWork() { process_state.at_work.fetch_sub(1, std::memory_order_release); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

// True if the calling process is being sampled. A child of vfork shares this memory, and a child of _Fork()
// or a raw clone() has a copy of it, with pointers to mappings that it does not have. Neither may use our
// data.
inline bool is_sampling_here() noexcept {
  return process_state.sampling.load(std::memory_order_acquire) && process_state.pid == own_process();
}

// True in a forked child that is not sampled yet, and will be from its first sample on.
inline bool waits_for_first_sample() noexcept {
  return process_state.first_period.is_waiting.load(std::memory_order_relaxed) &&
         process_state.pid == own_process();
}

// Starts a forked child that still waits for its first sample. Must be called before an action that needs the
// runtime, or that would prevent it from starting later. Async-signal-safe.
inline void stop_waiting_for_first_sample() noexcept {
  if (process_state.first_period.is_waiting.load(std::memory_order_relaxed)) [[unlikely]]
    process_state.first_period.start(false);
}

// True if the process has never had another thread than the calling one.
inline bool is_alone() noexcept {
  return __libc_single_threaded && process_state.thread_count.load(std::memory_order_relaxed) <= 1;
}

// Lets system calls of the calling thread pass undispatched as long as it lives
// (repair/isolate/session/session.h); the thread is not converted meanwhile. For handlers, with the program's
// signals blocked.
class DirectCalls {
 public:
  DirectCalls() noexcept : let_(conversion_calls.let_calls_pass.load(std::memory_order_acquire)) {
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

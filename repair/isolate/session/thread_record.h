#pragma once
// The record of a thread in a session. It lies in memory that the program's process and all converted threads
// share from the start. The thread itself and its parked original write it; other threads write only the
// members that say so. All calls are async-signal-safe.

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// The thread runs as the task that the program created, or as a converted thread, with that task parked.
enum class Where : uint32_t { Home, Converted };

// An order from a converted thread to its parked original.
enum class Order : uint32_t { None, Call, Leave };

struct SystemCall {
  long number = 0;
  long arguments[6] = {};
  long result = 0;
};

struct alignas(64) ThreadRecord {
  // The first three are accessed by their offsets in switch.S.
  void* stack = nullptr;          // of the thread that changes over; its context lies below it
  void* parking_stack = nullptr;  // the upper end; used by the original while it is parked
  void* leaving_stack = nullptr;  // the upper end; used by the converted thread while it exits

  std::atomic<int> tid{0};  // of the original; 0: the record is free
  std::atomic<Where> where{Where::Home};
  std::atomic<int> process{0};          // process number of the converted thread until it is reaped; 0: none
  std::atomic<uint32_t> asked_back{0};  // set by any thread; this one comes home as soon as it can
  std::atomic<uint32_t> wanted{0};      // at home: the thread converts itself when it takes the signal
  std::atomic<Order> order{Order::None};
  std::atomic<uint32_t> is_stopped{
      0};                            // as a session begins: the thread writes nothing until the session is on
  std::atomic<uint32_t> session{0};  // the number of the session that the thread is in
  // At home: the call that is about to be made has to be checked again. Set by other threads, and when
  // handlers return.
  std::atomic<uint32_t> stop{0};
  SystemCall call;  // for Order::Call

  // The signals that the program believes it blocks, while the thread is converted. At home the kernel has
  // them.
  std::atomic<uint64_t> program_mask{0};
  uint64_t hidden_mask = 0;    // those of our own signals that the program has blocked, in its view
  stack_t handler_stack = {};  // passed from the converted thread to the original
  bool has_rseq = false;
  siginfo_t held = {};  // a signal that the parked original took and that the thread must receive
  bool holds_signal = false;
  bool handlers_restart = true;  // the handlers that ran as the thread came home restart calls (SA_RESTART)

  // The stack pointer in a trapped call at home that cannot continue in a converted thread; else 0.
  uintptr_t call_at_home = 0;
  // The stack pointer in the outermost call that is being passed to the kernel for the program, which
  // handlers may have interrupted; else 0.
  uintptr_t passed_calls = 0;
  bool in_trap = false;            // of a converted thread, which then checks asked_back itself
  uint32_t own_interruptions = 0;  // by our signals
  uint32_t program_returns = 0;    // returns from the program's handlers
  uint32_t heartbeat_seen =
      0;  // value of Session::heartbeat when the converted thread last checked whether the program is stopped
  uint64_t converted_cpu_ns = 0;  // of the thread's conversions that have ended
  // The converted thread has CPU time of its own that converted_cpu_ns does not include yet.
  std::atomic<bool> has_uncounted_time{false};

  // The call that was restarted as the session began (interrupted_calls.h), until it is made or ended.
  uint64_t begun_again_pc = 0, begun_again_stack = 0;
  bool handlers_end_call = false;  // applies to the trapped call that is about to be made
};

static_assert(offsetof(ThreadRecord, stack) == 0);
static_assert(offsetof(ThreadRecord, parking_stack) == 8);
static_assert(offsetof(ThreadRecord, leaving_stack) == 16);

// Returns the record of the calling thread, or null outside of sessions.
ThreadRecord* this_record() noexcept;
void set_this_record(ThreadRecord* record) noexcept;

// Returns the record of a thread that is in the session, or null.
ThreadRecord* record_of(int tid) noexcept;

// Returns the record that the thread left, or a free one. Returns null if there is none, or no memory for its
// stacks.
ThreadRecord* take_record(int tid) noexcept;
void free_record(ThreadRecord& record) noexcept;
// Frees the records of threads that ended unnoticed, outside of sessions. Must be called
// while no thread can enter a session.
void free_records_of_ended_threads() noexcept;

// A session with more threads is declined.
constexpr size_t kMaxThreads = 4096;

// Calls use(ThreadRecord&) for every thread of the session.
ThreadRecord* first_record() noexcept;
size_t records_used() noexcept;
template <typename Use>
void for_each_record(Use use) noexcept {
  ThreadRecord* records = first_record();
  for (size_t i = 0; i < records_used(); ++i)
    if (records[i].tid.load(std::memory_order_acquire) > 0) use(records[i]);
}

}  // namespace hpcrun

#pragma once
// What is known of each thread of a session: one record, in memory that the program's process and all
// converted threads have in common from the start. The thread itself writes it, its parked original, and,
// where a member says so, others. All calls are async-signal-safe.

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Where a thread runs: as the task that the program created, or as a converted thread, while that task is
// parked.
enum class Where : uint32_t { Home, Converted };

// What a converted thread wants of its parked original.
enum class Order : uint32_t { None, Call, Leave };

struct SystemCall {
  long number = 0;
  long arguments[6] = {};
  long result = 0;
};

struct alignas(64) ThreadRecord {
  // The first three by their offsets in switch.S.
  void* stack = nullptr;          // of the thread that changes over: below it lies its context
  void* parking_stack = nullptr;  // the upper end; the original's while it is parked
  void* leaving_stack = nullptr;  // the upper end; the converted thread's while it exits

  std::atomic<int> tid{0};  // of the original; 0: free
  std::atomic<Where> where{Where::Home};
  std::atomic<int> process{0};          // its process, until it was waited for; 0: none
  std::atomic<uint32_t> asked_back{0};  // set by anyone; the thread gives itself back as soon as it can
  std::atomic<uint32_t> wanted{
      0};  // at home: the thread is to become a converted thread when it takes the signal
  std::atomic<Order> order{Order::None};
  std::atomic<uint32_t> stands{0};   // as a session begins: the thread writes nowhere until it is on
  std::atomic<uint32_t> session{0};  // the number of the session that the thread is in
  // At home: the call that is about to be made has to be looked at again. Set by others, and by handlers'
  // returns.
  std::atomic<uint32_t> stop{0};
  SystemCall call;  // of Order::Call

  // The signals that the program believes it blocks: of a converted thread; at home the kernel knows.
  std::atomic<uint64_t> program_mask{0};
  uint64_t hidden_mask = 0;    // of our own signals those that the program believes it blocks
  stack_t handler_stack = {};  // sigaltstack() on its way from converted thread to original
  bool has_rseq = false;
  siginfo_t held = {};  // a signal that the parked original took and that the thread has to get
  bool holds_signal = false;
  bool handlers_restart = true;  // those that ran as the thread came home let calls go on (SA_RESTART)

  // Where the thread is in a trapped call at home that cannot go on in a converted thread: the stack there,
  // else 0.
  uintptr_t call_at_home = 0;
  // Of the outermost call that is being passed to the kernel for the program, which handlers may have
  // interrupted: the stack there, else 0.
  uintptr_t passed_calls = 0;
  bool in_trap = false;            // of a converted thread: it looks at asked_back by itself
  uint32_t own_interruptions = 0;  // signals of ours
  uint32_t program_returns = 0;    // returns from the program's handlers
  uint32_t beats_seen =
      0;  // Session::beats, as the converted thread looked last whether the program is stopped
  uint64_t converted_cpu_ns = 0;  // of the thread's converted threads that have left
  // The converted thread has CPU time of its own that is not among that yet.
  std::atomic<bool> has_uncounted_time{false};

  // The call that was begun again as the session began (interrupted_calls.h), until it is made or ended.
  uint64_t begun_again_pc = 0, begun_again_stack = 0;
  bool handlers_end_call = false;  // the trapped call that is about to be made
};

static_assert(offsetof(ThreadRecord, stack) == 0);
static_assert(offsetof(ThreadRecord, parking_stack) == 8);
static_assert(offsetof(ThreadRecord, leaving_stack) == 16);

// Of the calling thread; null outside of sessions.
ThreadRecord* this_record() noexcept;
void set_this_record(ThreadRecord* record) noexcept;

// The record of a thread that is in the session; null for others.
ThreadRecord* record_of(int tid) noexcept;

// The one that the thread left behind, or a free one; null where there is none, or no memory for its stacks.
ThreadRecord* take_record(int tid) noexcept;
void free_record(ThreadRecord& record) noexcept;
// Of threads that ended outside of sessions, which nobody was told of. While no thread can enter one.
void free_records_of_ended_threads() noexcept;

// More threads than that are declined.
constexpr size_t kMaxThreads = 4096;

// use(ThreadRecord&) for every thread of the session.
ThreadRecord* first_record() noexcept;
size_t records_used() noexcept;
template <typename Use>
void for_each_record(Use use) noexcept {
  ThreadRecord* records = first_record();
  for (size_t i = 0; i < records_used(); ++i)
    if (records[i].tid.load(std::memory_order_acquire) > 0) use(records[i]);
}

}  // namespace hpcrun

#pragma once
// Twins: threads of a program that run as processes of their own, so that pages can be private to them (TMI,
// section 3.2), and give themselves back. The thread's kernel task, its original, stays in the program's
// process and is parked meanwhile: signals are sent to it, and it makes the system calls that have to be made
// there. The memory that threads have in common, stacks and thread-local variables included, has to be
// mapped shared before (repair/isolate/memory/common_memory.h).
//
// All calls are async-signal-safe unless they say otherwise.

#include <atomic>
#include <cstdint>

namespace hpcrun {

enum class Conversion : uint8_t {
  Done,         // the caller is in the twin
  AlreadyTwin,  //
  NoSession,    // the thread is in none (session.h), or in a forked child
  Held,         // all threads are wanted at home at present
  Busy,         // the thread is interrupted in a call that cannot go on in a twin
  Refused,      // by the kernel, which makes no process: its errno is in TwinCounts
};

struct ThreadRecord;

// Makes a twin that goes on as the calling thread, in the program's code or in a handler.
Conversion convert_this_thread() noexcept;

// The thread of this id makes itself a twin soon, where it runs the program's code at home; nothing happens
// where it is in the midst of something that cannot go on in a twin.
void ask_to_convert(ThreadRecord& record) noexcept;

enum class Leaving : uint8_t {
  Plain,  // give_back() was called
  Asked,  // ask_back()
  Call,   // a system call that the original has to make
  Fault,  // an instruction that the original has to repeat
  kCount,
};

// A twin is no task of the program's process, which may be stopped (SIGSTOP, SIGTSTP, a debugger): it looks
// after each kLookNs of its CPU time, by a timer whose signal is the request signal, and waits here until the
// program goes on. In the handler of that signal.
constexpr uint64_t kLookNs = 100'000'000;
void stop_with_program(ThreadRecord& record) noexcept;

// Goes on in the original, as the thread; nothing happens at home.
void give_back(Leaving reason = Leaving::Plain) noexcept;

bool is_twin() noexcept;

// The calling thread's number, which is its original's: a handler may make it a twin at any time.
int thread_number() noexcept;

// The thread of this id gives itself back soon: at once where it runs the program's code or waits in a system
// call. Nothing happens where it is no twin.
void ask_back(int tid) noexcept;
void ask_back(ThreadRecord& record) noexcept;
// Where it was asked for and nothing came of it, as the twin had no number yet, or the signal was lost.
void ask_back_again(ThreadRecord& record) noexcept;

// The thread's twin calls hooks.asked() soon, where it runs the program's code.
void ask_to_commit(ThreadRecord& record) noexcept;

// All threads are at home from the end of this call to that of the matching release_twins(); at home itself
// only. Waits for them.
void bring_all_home() noexcept;
void release_twins() noexcept;

// Since the session began. Times in nanoseconds.
struct TwinCounts {
  std::atomic<uint64_t> conversions;
  std::atomic<uint64_t> conversion_ns;  // all together
  std::atomic<uint64_t> longest_conversion_ns;
  std::atomic<uint64_t> refusals;
  std::atomic<int> last_errno;
  std::atomic<uint64_t> given_back[static_cast<int>(Leaving::kCount)];
  std::atomic<uint64_t> calls_by_original;
  std::atomic<uint64_t> trapped_calls;
};
TwinCounts& twin_counts() noexcept;

// give_back() for a handler that is about to return. The result is the mask to return with, and until then
// all signals are blocked: what came home may have taken a signal whose handler converted the thread again.
uint64_t give_back_in_handler(Leaving reason) noexcept;
// The same where nothing but a request may have to be followed, or the thread has to be at home for what
// comes.
uint64_t settle_in_handler(bool at_home = false) noexcept;

// As ask_to_convert() has it: in the handler of the request signal, at home. `interrupted` is the mask that
// the handler was about to return with; the result is the one to return with now, as of
// give_back_in_handler().
uint64_t convert_in_handler(uint64_t interrupted) noexcept;

// What hooks.is_busy() kept the calling twin from: gives the thread back where it was asked for.
void leave_where_asked() noexcept;

// The calling thread is at home as long as one of these lives, and does not become a twin: for calls that are
// made from the library's own code, which nobody dispatches, and change the address space.
class StaysHome {
 public:
  StaysHome() noexcept;
  ~StaysHome();
  StaysHome(const StaysHome&) = delete;
  StaysHome& operator=(const StaysHome&) = delete;
};

// The same for as long as the thread lives.
void stay_home() noexcept;

// All threads are at home as long as one of these lives. At home itself only.
class AllAtHome {
 public:
  explicit AllAtHome(bool is_needed) noexcept;
  ~AllAtHome();
  AllAtHome(const AllAtHome&) = delete;
  AllAtHome& operator=(const AllAtHome&) = delete;

 private:
  bool is_on_;
};

// For trapped_call.cpp: whether the calling twin was asked for. It looks there by itself.
bool was_asked_back() noexcept;

// CPU time of all twins that the process has and had, in nanoseconds.
uint64_t cpu_ns_of_twins() noexcept;
uint64_t cpu_ns_of_twins_of(const ThreadRecord& record) noexcept;

}  // namespace hpcrun

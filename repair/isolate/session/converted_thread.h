#pragma once
// A converted thread runs as a process of its own, so that pages can be private to it (TMI, section 3.2), and
// returns later. The thread's kernel task stays in the program's process as the parked original: it receives
// the thread's signals, and makes the system calls that belong to that process. "At home" means in the
// program's process, unconverted. All memory that threads share, stacks and thread-local variables included,
// must have been mapped shared before (repair/isolate/memory/common_memory.h).
//
// All calls are async-signal-safe unless they say otherwise.

#include <atomic>
#include <cstdint>

namespace hpcrun {

enum class Conversion : uint8_t {
  Done,  // the caller now runs in its own process
  AlreadyConverted,
  NoSession,  // the thread is in no session (session.h), or in a forked child
  Held,       // all threads must stay at home for now
  Busy,       // the thread is in a call that cannot continue in another process
  Refused,    // the kernel did not create a process; its errno is in ConvertedThreadCounts
};

struct ThreadRecord;

// Converts the calling thread, in the program's code or in a handler.
Conversion convert_this_thread() noexcept;

// Asks the thread to convert itself as soon as it runs the program's code at home. Nothing happens if it is
// in a call that cannot continue in another process.
void ask_to_convert(ThreadRecord& record) noexcept;

enum class Leaving : uint8_t {
  Plain,  // give_back() was called
  Asked,  // ask_back()
  Call,   // a system call that the original has to make
  Fault,  // an instruction that the original has to repeat
  kCount,
};

// Waits until the program continues, if it is stopped (SIGSTOP, SIGTSTP, a debugger). A stop does not reach
// converted threads, so each checks after every kLookNs of its CPU time, in the handler of the request
// signal.
constexpr uint64_t kLookNs = 100'000'000;
void stop_with_program(ThreadRecord& record) noexcept;

// Continues in the parked original; the calling process ends. Does nothing at home.
void give_back(Leaving reason = Leaving::Plain) noexcept;

bool is_converted() noexcept;

// Returns the thread's number, which is its original's: a handler may convert the thread at any time.
int thread_number() noexcept;

// Asks the thread to come home: it does at once if it runs the program's code or waits in a system call. Does
// nothing if it is not converted.
void ask_back(int tid) noexcept;
void ask_back(ThreadRecord& record) noexcept;
// Repeats a request that had no effect, because the process had no number yet or the signal was lost.
void ask_back_again(ThreadRecord& record) noexcept;

// Makes the converted thread call hooks.asked() as soon as it runs the program's code.
void ask_to_commit(ThreadRecord& record) noexcept;

// Waits until all threads are at home, and keeps them there until the matching release_converted_threads().
// Must be called at home.
void bring_all_home() noexcept;
void release_converted_threads() noexcept;

// Counts since the session began. Times in nanoseconds.
struct ConvertedThreadCounts {
  std::atomic<uint64_t> conversions;
  std::atomic<uint64_t> conversion_ns;  // of all conversions together
  std::atomic<uint64_t> longest_conversion_ns;
  std::atomic<uint64_t> refusals;
  std::atomic<int> last_errno;
  std::atomic<uint64_t> given_back[static_cast<int>(Leaving::kCount)];
  std::atomic<uint64_t> calls_by_original;
  std::atomic<uint64_t> trapped_calls;
};
ConvertedThreadCounts& converted_thread_counts() noexcept;

// give_back() for a handler that is about to return. Returns the signal mask to return with; until then all
// signals are blocked. The thread may be converted again by then, by a handler that ran as it came home.
uint64_t give_back_in_handler(Leaving reason) noexcept;
// The same if a request may be pending, or if the thread has to be at home next (`at_home`).
uint64_t settle_in_handler(bool at_home = false) noexcept;

// Converts the thread in the handler of the request signal (ask_to_convert()), at home. `interrupted`: the
// signal mask that the handler was about to return with. Returns the one to return with, as
// give_back_in_handler().
uint64_t convert_in_handler(uint64_t interrupted) noexcept;

// Comes home if that was requested while hooks.is_busy() was true.
void leave_where_asked() noexcept;

// Keeps the calling thread at home as long as it lives. For calls from this library's own code, which are not
// dispatched, that change the address space.
class StaysHome {
 public:
  StaysHome() noexcept;
  ~StaysHome();
  StaysHome(const StaysHome&) = delete;
  StaysHome& operator=(const StaysHome&) = delete;
};

// The same for as long as the thread lives.
void stay_home() noexcept;

// Keeps all threads at home as long as it lives. Must be created at home.
class AllAtHome {
 public:
  explicit AllAtHome(bool is_needed) noexcept;
  ~AllAtHome();
  AllAtHome(const AllAtHome&) = delete;
  AllAtHome& operator=(const AllAtHome&) = delete;

 private:
  bool is_on_;
};

// True if the calling converted thread was asked to come home. For trapped_call.cpp, which checks by itself.
bool was_asked_back() noexcept;

// Return the CPU time of all present and past converted threads of the process, or of one thread, in
// nanoseconds.
uint64_t cpu_ns_of_converted_threads() noexcept;
uint64_t cpu_ns_of_converted_threads_of(const ThreadRecord& record) noexcept;

}  // namespace hpcrun

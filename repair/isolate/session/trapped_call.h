#pragma once
// One system call of the program's in a session, from the trap to its result (trapped_calls.h): who makes it
// - the converted thread, its parked original, or the thread at home - and what has to be done about that. In
// the handler of the trap.

#include <time.h>
#include <ucontext.h>

#include <cstdint>

#include "repair/isolate/session/call_table.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/interrupted_calls.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

class TrappedCall {
 public:
  TrappedCall(ThreadRecord& record, ucontext_t& context) noexcept;

  // kMadeAtSite or the result. Not for rt_sigreturn.
  long make() noexcept;
  [[noreturn]] void return_from_handler() noexcept;

  // It was begun again as the session began.
  void has_begun_before() noexcept {
    record_.begun_again_pc = 0;
    has_begun_ = true;
  }

  // Before the handler returns: the thread may have changed over, and its mask is that of where it is.
  void end() noexcept;

 private:
  MadeBy made_by_now() const noexcept;
  bool make_as_converted(long& result) noexcept;
  long make_at_home() noexcept;
  long make_certainly_at_home() noexcept;
  long make_alone_at_home() noexcept;
  void tell_change() const noexcept;
  long interrupted() noexcept;
  bool pass(long& result) noexcept;
  bool pass_to_kernel(long& result) noexcept;
  void go_home(Leaving reason) noexcept;
  void take_own_mask() noexcept;
  [[noreturn]] void end_process() noexcept;
  [[noreturn]] void end_thread() noexcept;
  long execute_program() noexcept;

  ThreadRecord& record_;
  ucontext_t& context_;
  SystemCall call_;
  uintptr_t outer_call_at_home_;
  TimeLimit limit_;
  EndsByHandler ends_;
  uint64_t ends_at_ = 0;
  timespec time_left_{};
  bool has_begun_ = false;
  uint32_t returns_before_;  // from handlers of the program's, before the call was begun for the first time
  uint64_t mask_ = 0;          // of a call that waits with one
  uint64_t converted_mask_;    // that the context has where a converted thread made the call
  bool has_new_mask_ = false;  // the call has set it, at home
};

}  // namespace hpcrun

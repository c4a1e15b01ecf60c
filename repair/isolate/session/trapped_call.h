#pragma once
// One system call of the program in a session, from the trap to its result (trapped_calls.h). Decides whether
// the converted thread, its parked original or the thread at home makes it, and does what that requires. Runs
// in the handler of the trap.

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

  // Returns the result or kMadeAtSite. Not for rt_sigreturn.
  long make() noexcept;
  [[noreturn]] void return_from_handler() noexcept;

  // The call was restarted as the session began.
  void has_begun_before() noexcept {
    record_.begun_again_pc = 0;
    has_begun_ = true;
  }

  // Must be called before the handler returns. The thread may have changed over, so the mask is that of where
  // it is now.
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
  uint32_t returns_before_;    // from handlers of the program, before the call was first begun
  uint64_t mask_ = 0;          // of a call that waits with another mask
  uint64_t converted_mask_;    // the context has it if a converted thread made the call
  bool has_new_mask_ = false;  // the call has set it, at home
};

}  // namespace hpcrun

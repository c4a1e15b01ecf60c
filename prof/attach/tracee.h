#pragma once
// One thread of another process, stopped for a moment (ptrace(2)) to run a little of ours. Its other threads
// run on.
//
// prof may be killed at any time: what a thread is made to run ends in a signal return to what it was about
// (return_frame.h), so that it comes back without prof.
//
// The thread does not notice: its registers, vector registers, signal mask and the system call in which it
// waits are what they were. A call that the kernel only restarts where nobody stops the thread (epoll_wait
// and similar, which return EINTR) is made anew, and so is any that a sample would end as the thread goes on;
// one with a timeout then waits for the whole of it again.

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "prof/attach/target_process.h"

namespace prof {

class Tracee {
 public:
  // Stops the thread. Nothing where it ended, did not stop soon, or is in a system call that it might return
  // from otherwise than without us; throws CommandError where the kernel forbids it.
  static std::optional<Tracee> stop_if_repeatable(int tid);
  Tracee(Tracee&& other) noexcept;
  Tracee& operator=(Tracee&&) = delete;
  // The thread goes on.
  ~Tracee();

  // Whether code of a program that has an allocator in its executable is avoided as a whole, as that of
  // libraries with one, or only as far as calls of the allocator are found.
  enum class OwnCode : uint8_t { Avoided, Examined };

  // False while it may hold a lock of the C library, the loader or an allocator.
  bool is_at_safe_place(const TargetProcess& target, OwnCode own_code) const;

  // Prepares the thread to run what the functions below give it. False if its stack has no room for that, or
  // if it could not go back without prof to the call that it waits in.
  bool prepare(const TargetProcess& target);

  // Makes a system call by an instruction `syscall` that a `ret` follows. Returns its result, or a negated
  // errno.
  long system_call(uint64_t instruction, long number, std::initializer_list<uint64_t> arguments);

  // Calls a function on a stack that ends at `stack`. It returns to `back`, where its result is put into rbx,
  // a system call is made, and the thread returns by the frame at r12. Returns the result.
  uint64_t call(uint64_t function, std::initializer_list<uint64_t> arguments, uint64_t stack, uint64_t back);

 private:
  explicit Tracee(int tid) : tid_(tid) {}
  void restore();
  void start_at(user_regs_struct& registers);
  user_regs_struct going_on() const;
  void resume_until_system_call();
  user_regs_struct registers() const;
  void set_registers(const user_regs_struct& registers) const;

  int tid_ = 0;
  bool saved_ = false;
  bool lost_ = false;  // it ended
  user_regs_struct interrupted_{};
  uint64_t frame_ = 0;  // leads back without prof
  std::vector<char> vector_registers_;
  uint64_t mask_ = 0;
};

}  // namespace prof

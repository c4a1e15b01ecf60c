#pragma once
// One thread of another process, stopped for a moment with ptrace(2) to run some code of prof's. The
// process's other threads run on.
//
// prof may be killed at any time. Whatever the thread is made to run ends in a signal return to its own code
// (return_frame.h), so the thread continues without prof.
//
// The thread does not notice: its registers, vector registers, signal mask and the system call in which it
// waits stay the same. A call that the kernel restarts only if its thread was not stopped (epoll_wait and
// similar, which return EINTR) is made again. So is any call that a sample would interrupt as the thread
// continues. A call with a timeout then waits for the whole timeout again.

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
  // Stops the thread. Returns nothing if the thread ended, did not stop soon, or is in a system call that
  // could return a different result because of the stop. Throws CommandError if the kernel forbids it.
  static std::optional<Tracee> stop_if_repeatable(int tid);
  Tracee(Tracee&& other) noexcept;
  Tracee& operator=(Tracee&&) = delete;
  // Lets the thread continue.
  ~Tracee();

  // Determines whether all code of an executable that contains an allocator is avoided, as code of allocator
  // libraries is (Avoided), or only calls of the allocator that are found (Examined).
  enum class OwnCode : uint8_t { Avoided, Examined };

  // Returns false if the thread may hold a lock of the C library, the loader or an allocator.
  bool is_at_safe_place(const TargetProcess& target, OwnCode own_code) const;

  // Prepares the thread to run code of prof's by the functions below. Returns false if its stack has no room
  // for that, or if it could not return without prof to the call in which it waits.
  bool prepare(const TargetProcess& target);

  // Makes a system call with an instruction `syscall` that is followed by `ret`. Returns its result, or a
  // negated errno.
  long system_call(uint64_t instruction, long number, std::initializer_list<uint64_t> arguments);

  // Calls a function on a stack that ends at `stack`. The function returns to `back`. The code there puts the
  // result into rbx, makes a system call, and returns by the frame at r12. Returns the result.
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
  bool lost_ = false;  // the thread ended
  user_regs_struct interrupted_{};
  uint64_t frame_ = 0;  // returns to the thread's own code without prof
  std::vector<char> vector_registers_;
  uint64_t mask_ = 0;
};

}  // namespace prof

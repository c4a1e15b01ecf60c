#pragma once
// One thread of another process, stopped for a moment (ptrace(2)) to run a little of ours. Its other threads
// run on.
//
// The thread does not notice: its registers, vector registers, signal mask and the system call in which it
// waits are what they were. A call that the kernel only restarts where nobody stops the thread (epoll_wait
// and its like, which return EINTR) is made anew; one with a timeout then waits for the whole of it again.

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "prof/target_process.h"

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

  // False while it may hold a lock of the C library, the loader or an allocator.
  bool is_at_safe_place(const TargetProcess& target) const;

  // Makes a system call; its result, or a negated errno. The first call saves all that is to be restored.
  long system_call(uint64_t instruction, long number, std::initializer_list<uint64_t> arguments);

  // Calls a function on a stack that ends at `stack`. It returns to `back`, where its result is put into rbx
  // and a system call is made. The result.
  uint64_t call(uint64_t function, std::initializer_list<uint64_t> arguments, uint64_t stack, uint64_t back);

 private:
  explicit Tracee(int tid) : tid_(tid) {}
  void save();
  void restore();
  void resume_until_system_call();
  user_regs_struct registers() const;
  void set_registers(const user_regs_struct& registers) const;

  int tid_ = 0;
  bool saved_ = false;
  bool lost_ = false;  // it ended
  user_regs_struct interrupted_{};
  std::vector<char> vector_registers_;
  uint64_t mask_ = 0;
};

}  // namespace prof

// syscall(): system calls that programs make by number.

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hpcrun/guest/chosen_entry.h"
#include "repair/isolate/preload/committing.h"
#include "repair/isolate/preload/start.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(syscall);

namespace {

using Syscall = long(long, long, long, long, long, long, long);

long call_behind(long number, const long* a) noexcept {
  return HPCRUN_NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// For std::atomic::wait(), Rust's locks, and other code that makes system calls itself.
long call_committed(long number, long a, long b, long c, long d, long e, long f) noexcept {
  const MeetsOthers meets;
  if (number == SYS_futex) {
    keep_common(reinterpret_cast<const uint32_t*>(a));
    keep_common(reinterpret_cast<const uint32_t*>(e));
  }
  const long arguments[] = {a, b, c, d, e, f};
  return committed<Tells::Both>([&] { return call_behind(number, arguments); });
}

long call_fork(long number, long a, long b, long c, long d, long e, long f) noexcept {
  before_fork();
  const long arguments[] = {a, b, c, d, e, f};
  const long result = call_behind(number, arguments);
  result == 0 ? after_fork_in_child() : after_fork_in_parent();
  return result;
}

enum class Makes { No, Fork, ForkElsewhere, Other };

// Returns the kind of child that the call creates: one with memory of its own, on a given stack or a copy of
// this one, or with this memory.
Makes made_by(long number, long a, long b) noexcept {
  switch (number) {
    case SYS_fork:
      return Makes::Fork;
    case SYS_vfork:
      return Makes::Other;
    case SYS_clone:
      return a & CLONE_VM ? Makes::Other : b ? Makes::ForkElsewhere : Makes::Fork;
    case SYS_clone3: {
      const auto* const how = reinterpret_cast<const clone_args*>(a);
      if (!how || b < static_cast<long>(CLONE_ARGS_SIZE_VER0)) return Makes::No;  // the kernel refuses
      return how->flags & CLONE_VM ? Makes::Other : how->stack ? Makes::ForkElsewhere : Makes::Fork;
    }
    default:
      return Makes::No;
  }
}

}  // namespace

// Returns the function that handles syscall(). Called by the entry below, with its arguments.
extern "C" __attribute__((used)) Syscall* hpcrun_isolate_before_syscall(long number, long a,
                                                                        long b) noexcept {
  switch (made_by(number, a, b)) {
    case Makes::No:
      return call_committed;
    case Makes::Fork:
      return call_fork;
    case Makes::ForkElsewhere:
      before_fork();
      break;
    case Makes::Other:
      commit_own_pages(Stores::Own);
      break;
  }
  return reinterpret_cast<Syscall*>(HPCRUN_NEXT(syscall));
}

// A system call that returns twice on one stack, or on another one, must not have our frames below it.
HPCRUN_CHOSEN_ENTRY(syscall, hpcrun_isolate_before_syscall);

#include "repair/isolate/session/clone_calls.h"

#include <errno.h>
#include <sched.h>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/call_table.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/switch.h"

namespace hpcrun {

namespace {

long flags_of(const SystemCall& call) noexcept {
  switch (call.number) {
    case SYS_vfork:
      return CLONE_VM | CLONE_VFORK | SIGCHLD;
    case SYS_fork:
      return SIGCHLD;
    case SYS_clone:
      return call.arguments[0];
    default: {
      uint64_t flags = 0;  // clone3: the first word of its arguments
      if (!safe_load_word(static_cast<uint64_t>(call.arguments[0]), flags))
        return 0;  // the kernel refuses it
      return static_cast<long>(flags);
    }
  }
}

// Call sites in the program are recorded permanently.
long make_at_site(ucontext_t& context) noexcept {
  auto& registers = context.uc_mcontext.gregs;
  const auto place = static_cast<uintptr_t>(registers[REG_RIP]);
  for (int i = 0; i < kCloneSites; ++i) {
    uintptr_t taken = 0;
    if (!hpcrun_clone_places[i].compare_exchange_strong(taken, place) && taken != place) continue;
    registers[REG_RIP] =
        reinterpret_cast<intptr_t>(hpcrun_clone_sites + kCloneSiteBytes * static_cast<size_t>(i));
    return kMadeAtSite;
  }
  return -EAGAIN;
}

}  // namespace

bool is_clone_call(long number) noexcept {
  return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
}

bool is_at_clone_site(const ucontext_t& context) noexcept {
  const auto offset = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]) -
                      reinterpret_cast<uintptr_t>(hpcrun_clone_sites);
  return offset < kCloneSites * kCloneSiteBytes && offset % kCloneSiteBytes == 0;
}

long clone_at_home(const SystemCall& call, ucontext_t& context) noexcept {
  if (flags_of(call) & CLONE_VM) return make_at_site(context);
  constexpr int kTries = 25;
  for (int tries = 0; !end_isolation();)
    if (++tries == kTries) return -EAGAIN;
  if (session.hooks.before_fork) session.hooks.before_fork();
  context.uc_mcontext.gregs[REG_RIP] -= kCallBytes;  // made again, without dispatch
  return kMadeAtSite;
}

}  // namespace hpcrun

// Called in a child that shares its parent's memory. One that is not a thread of the process ends or executes
// a program soon.
extern "C" void hpcrun_new_thread() noexcept;
void hpcrun_new_thread() noexcept {
  using namespace hpcrun;
  if (sys_getpid() == session.pid) enter_session_as_new_thread();
}

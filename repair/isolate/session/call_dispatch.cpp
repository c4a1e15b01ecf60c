// The dispatch of a thread's system calls (session.h).

#include <link.h>
#include <sys/prctl.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/clone_calls.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/switch.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

namespace hpcrun {

namespace {

// The values that the kernel checks before it dispatches a call (Linux, Documentation/admin-guide/
// syscall-user-dispatch.rst).
constexpr char kPasses = 0, kIsDispatched = 1;
constinit thread_local volatile char selector = kIsDispatched;

// The code of this library, whose calls are not dispatched.
struct Text {
  uintptr_t begin = 0;
  size_t bytes = 0;
};
constinit Text text;

int find_text(dl_phdr_info* module, size_t, void*) {
  const auto here = reinterpret_cast<uintptr_t>(hpcrun_clone_sites);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = module->dlpi_addr + header.p_vaddr;
    if (here < begin || here >= begin + header.p_memsz) continue;
    text = {begin, header.p_memsz};
    return 1;
  }
  return 0;
}

}  // namespace

void find_own_code() noexcept {
  if (!text.bytes) dl_iterate_phdr(find_text, nullptr);
}

bool dispatch_calls(bool on) noexcept {
  return raw_syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, on, on ? static_cast<long>(text.begin) : 0,
                     on ? static_cast<long>(text.bytes) : 0, on ? reinterpret_cast<long>(&selector) : 0) == 0;
}

bool let_calls_pass(bool passes) noexcept {
  const bool before = calls_pass();
  selector = passes ? kPasses : kIsDispatched;
  return before;
}

bool calls_pass() noexcept {
  return selector == kPasses;
}

void return_from_handler(void* context) noexcept {
  hpcrun_return_to(context);
}

}  // namespace hpcrun

// _exit and _Exit. They end a process as normally as exit does, but run no destructors, so the file would
// look like that of a killed process. A child of vfork shares our memory, and ends without having been
// measured.

#include <stdlib.h>
#include <unistd.h>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/saved_files.h"
#include "hpcrun/sample/state.h"

using namespace hpcrun;

namespace {

[[noreturn]] HPCRUN_FORK_PATH void end_process(int status) noexcept {
  if (process_state.sampling.load(std::memory_order_relaxed) && process_state.pid == sys_getpid()) {
    call_hooks<&Hooks::sudden_end>();
    save_gone_files();
    process_state.file.finish(monotonic_ns());
  }
  for (;;) raw_syscall(SYS_exit_group, status);
}

}  // namespace

HPCRUN_EXPORT HPCRUN_FORK_PATH void _exit(int status) {
  end_process(status);
}

HPCRUN_EXPORT HPCRUN_FORK_PATH void _Exit(int status) noexcept {
  end_process(status);
}

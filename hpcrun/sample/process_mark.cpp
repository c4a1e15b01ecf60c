#include "hpcrun/sample/process_mark.h"

#include <new>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

constinit std::atomic<const std::atomic<uint32_t>*> process_mark{nullptr};

void mark_process() noexcept {
  if (process_mark.load()) return;
  if (void* const page = map_emptied_page())
    process_mark.store(new (page) std::atomic<uint32_t>(1), std::memory_order_release);
}

HPCRUN_FORK_PATH void reset_process_mark_after_fork() noexcept {
  if (process_mark.load(std::memory_order_relaxed)) process_mark.store(nullptr, std::memory_order_relaxed);
}

}  // namespace hpcrun

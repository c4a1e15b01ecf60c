#include "hpcrun/sample/process_mark.h"

#include <sys/mman.h>

#include <new>

namespace hpcrun {

constinit std::atomic<const std::atomic<uint32_t>*> process_mark{nullptr};

void mark_process() noexcept {
  constexpr size_t kPage = 4096;
  if (process_mark.load()) return;
  void* const page = sys_mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (sys_madvise(page, kPage, MADV_WIPEONFORK) < 0) {
    sys_munmap(page, kPage);
    return;
  }
  process_mark.store(new (page) std::atomic<uint32_t>(1), std::memory_order_release);
}

void forget_process_mark() noexcept {
  process_mark.store(nullptr, std::memory_order_relaxed);
}

}  // namespace hpcrun

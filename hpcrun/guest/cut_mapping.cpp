#include "hpcrun/guest/cut_mapping.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr uint64_t kPage = 4096;

// Guards `lines` and the caller's `is_own`. A second thread does not wait: it repeats its access meanwhile.
constinit std::atomic_flag searching;
MappingLines lines;

struct Search {
  uint64_t address;
  bool (*is_own)(const OwnMapping& mapping);
  bool found = false;
  int protection = PROT_NONE;
};

void look_at(void* argument, const OwnMapping& mapping) noexcept {
  auto& search = *static_cast<Search*>(argument);
  if (search.address < mapping.low || search.address >= mapping.high || mapping.inode == 0) return;
  search.found = search.is_own(mapping);
  search.protection = (mapping.is_readable ? PROT_READ : 0) | (mapping.is_writable ? PROT_WRITE : 0) |
                      (mapping.is_executable ? PROT_EXEC : 0);
}

}  // namespace

bool replace_cut_page(const siginfo_t& info, bool (*is_own)(const OwnMapping& mapping)) noexcept {
  if (info.si_signo != SIGBUS || info.si_code != BUS_ADRERR) return false;
  if (searching.test_and_set(std::memory_order_acquire)) return true;
  Search search{reinterpret_cast<uint64_t>(info.si_addr), is_own};
  for_each_mapping(look_at, &search, lines);
  void* const page = reinterpret_cast<void*>(search.address / kPage * kPage);
  if (search.found &&
      sys_mmap(page, kPage, search.protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    search.found = false;
  searching.clear(std::memory_order_release);
  return search.found;
}

}  // namespace hpcrun

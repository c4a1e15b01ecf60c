#include "hpcrun/guest/clock.h"

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>

#include "hpcrun/elf/dynamic.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

using ClockGettime = int (*)(clockid_t, timespec*);
ClockGettime vdso_clock_gettime = nullptr;

}  // namespace

void find_vdso_clock() noexcept {
  const uint64_t base = getauxval(AT_SYSINFO_EHDR);
  int counter = PR_TSC_ENABLE;  // a parent may have forbidden it
  raw_syscall(SYS_prctl, PR_GET_TSC, reinterpret_cast<long>(&counter));
  if (!base || counter != PR_TSC_ENABLE) return;
  const MappedSource vdso(base);
  Elf64_Ehdr header;
  if (read_elf_header(vdso, header) != ElfStatus::Ok) return;
  uint64_t bias = base;
  Elf64_Phdr dynamic{};
  any_segment(vdso, header, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == PT_LOAD) bias = base + segment.p_offset - segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    return false;
  });
  // The kernel leaves its addresses as they were linked.
  const MappedSource linked(bias);
  const DynamicTables tables = read_dynamic(vdso, dynamic.p_offset, dynamic.p_filesz);
  if (tables.symbols == 0 || tables.strings == 0) return;
  const uint32_t count = count_symbols(linked, tables.hash, tables.gnu_hash);
  any_item<Elf64_Sym>(linked, tables.symbols, count, [&](const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF ||
        !string_is(linked, tables.strings, tables.string_bytes, symbol.st_name, "__vdso_clock_gettime"))
      return false;
    vdso_clock_gettime = reinterpret_cast<ClockGettime>(bias + symbol.st_value);
    return true;
  });
}

void stop_using_vdso_clock() noexcept {
  std::atomic_ref(vdso_clock_gettime).store(nullptr, std::memory_order_relaxed);
}

HPCRUN_FORK_PATH uint64_t monotonic_ns() noexcept {
  const ClockGettime read = std::atomic_ref(vdso_clock_gettime).load(std::memory_order_relaxed);
  if (!read) return sys_clock_ns(CLOCK_MONOTONIC);
  timespec now{};
  read(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace hpcrun

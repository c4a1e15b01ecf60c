#include "hpcrun/guest/clock.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstring>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

using ClockGettime = int (*)(clockid_t, timespec*);
ClockGettime vdso_clock_gettime = nullptr;

// Tables that the vDSO's dynamic section points to.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  const uint32_t* hash = nullptr;      // DT_HASH: buckets, chains, ...
  const uint32_t* gnu_hash = nullptr;  // DT_GNU_HASH: buckets, first symbol, words of the filter, shift, ...
};

// Returns the number of symbols, which DT_GNU_HASH does not store directly.
uint32_t count_symbols(const Symbols& symbols) noexcept {
  if (symbols.hash) return symbols.hash[1];
  if (!symbols.gnu_hash) return 0;
  const uint32_t bucket_count = symbols.gnu_hash[0];
  const uint32_t first = symbols.gnu_hash[1];
  const uint32_t* buckets = symbols.gnu_hash + 4 + symbols.gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* chains = buckets + bucket_count;
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; ++i)
    if (buckets[i] > last) last = buckets[i];
  if (last < first) return first;
  while (!(chains[last - first] & 1)) ++last;  // the last entry of a chain has its low bit set
  return last + 1;
}

Symbols symbols_of(const ElfW(Dyn) * dynamic, ElfW(Addr) bias) noexcept {
  Symbols symbols;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Addr) address = bias + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols.table = reinterpret_cast<const ElfW(Sym)*>(address);
    if (dynamic->d_tag == DT_STRTAB) symbols.names = reinterpret_cast<const char*>(address);
    if (dynamic->d_tag == DT_HASH) symbols.hash = reinterpret_cast<const uint32_t*>(address);
    if (dynamic->d_tag == DT_GNU_HASH) symbols.gnu_hash = reinterpret_cast<const uint32_t*>(address);
  }
  return symbols;
}

}  // namespace

void find_vdso_clock() noexcept {
  const auto base = static_cast<ElfW(Addr)>(getauxval(AT_SYSINFO_EHDR));
  int counter = PR_TSC_ENABLE;  // a parent may have forbidden it
  raw_syscall(SYS_prctl, PR_GET_TSC, reinterpret_cast<long>(&counter));
  if (!base || counter != PR_TSC_ENABLE) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  ElfW(Addr) bias = base;
  const ElfW(Phdr)* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) bias = base + segments[i].p_offset - segments[i].p_vaddr;
    if (segments[i].p_type == PT_DYNAMIC) dynamic = &segments[i];
  }
  if (!dynamic) return;
  const Symbols symbols = symbols_of(reinterpret_cast<const ElfW(Dyn)*>(base + dynamic->p_offset), bias);
  if (!symbols.table || !symbols.names) return;
  const uint32_t count = count_symbols(symbols);
  for (uint32_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols.table[i];
    if (symbol.st_shndx == SHN_UNDEF || strcmp(symbols.names + symbol.st_name, "__vdso_clock_gettime") != 0)
      continue;
    vdso_clock_gettime = reinterpret_cast<ClockGettime>(bias + symbol.st_value);
  }
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

#include "hpcrun/guest/import_slots.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "hpcrun/elf/dynamic.h"
#include "hpcrun/elf/headers.h"
#include "hpcrun/guest/syscalls.h"

// Defined by the linker: the start and end of this library.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

namespace hpcrun {

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

DynamicSection read_dynamic_section(const dl_phdr_info& module) noexcept {
  const Elf64_Phdr* const segment = find_segment(module.dlpi_phdr, module.dlpi_phnum, PT_DYNAMIC);
  if (!segment) return {};
  const DynamicTables tables =
      read_dynamic(MappedSource(module.dlpi_addr), segment->p_vaddr, segment->p_memsz);
  return {reinterpret_cast<const Elf64_Sym*>(tables.symbols),
          reinterpret_cast<const char*>(tables.strings),
          tables.gnu_hash,
          {reinterpret_cast<const Elf64_Rela*>(tables.plt_relocations),
           reinterpret_cast<const Elf64_Rela*>(tables.relocations)},
          {tables.plt_relocation_bytes / sizeof(Elf64_Rela), tables.relocation_bytes / sizeof(Elf64_Rela)}};
}

bool is_this_library(const dl_phdr_info& module) noexcept {
  return module.dlpi_addr == reinterpret_cast<uint64_t>(__ehdr_start);
}

bool is_of_this_library(const void* address) noexcept {
  return address >= __ehdr_start && address < _end;
}

bool has_import_slots(const dl_phdr_info& module) noexcept {
  const uint64_t bias = module.dlpi_addr;
  if (bias == getauxval(AT_SYSINFO_EHDR) || bias == getauxval(AT_BASE)) return false;
  for (int i = 0; i < module.dlpi_phnum; ++i)
    if (module.dlpi_phdr[i].p_type == PT_LOAD &&
        is_of_this_library(reinterpret_cast<void*>(bias + module.dlpi_phdr[i].p_vaddr)))
      return false;
  return true;
}

ImportSlots::ImportSlots(const dl_phdr_info& module) noexcept
    : bias_(module.dlpi_addr), dynamic_(read_dynamic_section(module)) {
  const Elf64_Phdr* const read_only = find_segment(module.dlpi_phdr, module.dlpi_phnum, PT_GNU_RELRO);
  if (!read_only) return;
  read_only_low_ = (bias_ + read_only->p_vaddr) / kPage * kPage;
  read_only_high_ = (bias_ + read_only->p_vaddr + read_only->p_memsz) / kPage * kPage;
}

ImportSlots::~ImportSlots() {
  if (open_) protect(PROT_READ);
}

void ImportSlots::write(void** slot, void* value) noexcept {
  if (make_writable(slot)) __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

bool ImportSlots::make_writable(const void* slot) noexcept {
  const auto at = reinterpret_cast<uint64_t>(slot);
  if (at < read_only_low_ || at >= read_only_high_ || open_) return true;
  open_ = protect(PROT_READ | PROT_WRITE);
  return open_;
}

bool ImportSlots::protect(int protection) const noexcept {
  return raw_syscall(SYS_mprotect, static_cast<long>(read_only_low_),
                     static_cast<long>(read_only_high_ - read_only_low_), protection) == 0;
}

}  // namespace hpcrun

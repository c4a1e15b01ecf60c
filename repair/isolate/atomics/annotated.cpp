#include "repair/isolate/atomics/annotated.h"

#include <string.h>

#include <cstddef>

#include "repair/isolate/pass/regions.h"

namespace hpcrun {

namespace {

constexpr uint64_t rounded(uint64_t bytes) noexcept {
  return (bytes + 3) & ~uint64_t{3};
}

// A note that ends before its stated end ends the search.
bool says_annotated(const std::byte* notes, uint64_t bytes) noexcept {
  while (bytes >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    __builtin_memcpy(&header, notes, sizeof header);
    const uint64_t size = sizeof header + rounded(header.n_namesz) + rounded(header.n_descsz);
    if (size > bytes) return false;
    ProfRegionsNote wanted;
    if (size == sizeof wanted) {
      wanted.complete = 1;
      if (memcmp(notes, &wanted, sizeof wanted) == 0) return true;
    }
    notes += size;
    bytes -= size;
  }
  return false;
}

}  // namespace

bool is_annotated(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const Elf64_Phdr& part = module.dlpi_phdr[i];
    // Notes of GNU properties are aligned to 8 bytes, in a segment of their own.
    if (part.p_type == PT_NOTE && part.p_align <= 4 &&
        says_annotated(reinterpret_cast<const std::byte*>(module.dlpi_addr + part.p_vaddr), part.p_memsz))
      return true;
  }
  return false;
}

}  // namespace hpcrun

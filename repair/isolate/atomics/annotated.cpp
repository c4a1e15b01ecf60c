#include "repair/isolate/atomics/annotated.h"

#include <string.h>

#include "hpcrun/elf/notes.h"
#include "repair/isolate/pass/regions.h"

namespace hpcrun {

namespace {

bool says_annotated(uint64_t start, uint64_t bytes) noexcept {
  const MappedSource memory;
  return any_note(memory, start, bytes, 4, [&](const ElfNote& note) {
    ProfRegionsNote found, wanted;
    wanted.complete = 1;
    return note.end - note.start == sizeof wanted && memory.read(note.start, &found, sizeof found) &&
           memcmp(&found, &wanted, sizeof wanted) == 0;
  });
}

}  // namespace

bool is_annotated(const dl_phdr_info& module) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const Elf64_Phdr& part = module.dlpi_phdr[i];
    // Notes of GNU properties are aligned to 8 bytes, in a segment of their own.
    if (part.p_type == PT_NOTE && part.p_align <= 4 &&
        says_annotated(module.dlpi_addr + part.p_vaddr, part.p_memsz))
      return true;
  }
  return false;
}

}  // namespace hpcrun

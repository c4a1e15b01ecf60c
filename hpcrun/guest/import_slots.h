#pragma once
// Reads and writes the slots through which a loaded module calls functions of other modules (its global
// offset table). For callbacks of dl_iterate_phdr(); not async-signal-safe.

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Contents of a loaded module's dynamic section. The loader has made its addresses absolute.
struct DynamicSection {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  uint64_t gnu_hash = 0;
  const Elf64_Rela* relocations[2] = {};  // of functions that are called; the others
  size_t counts[2] = {};
};
DynamicSection read_dynamic_section(const dl_phdr_info& module) noexcept;

[[nodiscard]] bool is_this_library(const dl_phdr_info& module) noexcept;
bool is_of_this_library(const void* address) noexcept;

// False for this library, the loader, and the kernel's module, whose addresses are not absolute.
[[nodiscard]] bool has_import_slots(const dl_phdr_info& module) noexcept;

// The import slots of one module for which has_import_slots() is true.
class ImportSlots {
 public:
  explicit ImportSlots(const dl_phdr_info& module) noexcept;
  ~ImportSlots();
  ImportSlots(const ImportSlots&) = delete;
  ImportSlots& operator=(const ImportSlots&) = delete;

  // Calls use(void** slot, const char* function) for each slot.
  template <typename Use>
  void for_each(Use use) const noexcept {
    if (!dynamic_.symbols || !dynamic_.strings) return;
    for (int table = 0; table < 2; ++table) {
      for (size_t i = 0; dynamic_.relocations[table] && i < dynamic_.counts[table]; ++i) {
        const Elf64_Rela& relocation = dynamic_.relocations[table][i];
        const auto type = ELF64_R_TYPE(relocation.r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
        const Elf64_Sym& symbol = dynamic_.symbols[ELF64_R_SYM(relocation.r_info)];
        if (symbol.st_shndx == SHN_UNDEF)
          use(reinterpret_cast<void**>(bias_ + relocation.r_offset), dynamic_.strings + symbol.st_name);
      }
    }
  }

  // Writes a slot with one aligned store, since other threads may be calling through it. Memory that the
  // loader made read-only is writable from the first write until this object is destroyed. A slot that cannot
  // be written is left unchanged.
  void write(void** slot, void* value) noexcept;

 private:
  [[nodiscard]] bool make_writable(const void* slot) noexcept;
  bool protect(int protection) const noexcept;

  uint64_t bias_;
  DynamicSection dynamic_;
  uint64_t read_only_low_ = 0;
  uint64_t read_only_high_ = 0;
  bool open_ = false;
};

}  // namespace hpcrun

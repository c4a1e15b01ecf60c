#pragma once
// Finds a section of an ELF file by name.

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace prof {

struct ElfSection {
  uint64_t address = 0;
  std::span<const uint8_t> bytes;  // empty if there is no such section; valid as long as the Elf
};

// Returns the section, decompressed if needed; empty if that fails.
ElfSection find_section(Elf* elf, std::string_view name);

}  // namespace prof

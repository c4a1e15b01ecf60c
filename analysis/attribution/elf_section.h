#pragma once
// A section of an ELF file by its name.

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace prof {

struct ElfSection {
  uint64_t address = 0;
  std::span<const uint8_t> bytes;  // empty where there is none; they live as long as the Elf
};

// Decompressed where need be; empty if that fails.
ElfSection find_section(Elf* elf, std::string_view name);

}  // namespace prof

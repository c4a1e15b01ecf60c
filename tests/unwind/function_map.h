#pragma once
// Maps a code address to its function by the symbol table of an ELF file. It is prepared outside handlers and
// read inside.

#include <gelf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace prof_test {

class FunctionMap {
 public:
  // Numbers the named functions of the file by their index in `names`. Parts that the compiler split off
  // ("name.cold") count as the function.
  bool load(const char* file, const char* const* names, uint16_t name_count);

  // Returns the number of the function at an ELF address, or 0. Async-signal-safe.
  uint16_t at(uint64_t elf_address) const {
    const uint64_t offset = elf_address - first_;
    return elf_address >= first_ && offset < functions_.size() ? functions_[offset] : uint16_t{0};
  }
  size_t named() const { return named_; }

 private:
  uint64_t first_ = 0;
  std::vector<uint16_t> functions_;  // by byte
  size_t named_ = 0;
};

}  // namespace prof_test

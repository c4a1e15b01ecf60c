#pragma once
// Names and lines of Go code from the table that Go's runtime uses (.gopclntab), which `strip` and
// `-ldflags=-s` keep. Supports the layout of Go 1.18 and later. The table is untrusted.

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace prof {

class GoFunctions {
 public:
  // `text`: the address of the code that the table's offsets are relative to; 0: read it from the table.
  // Returns nullopt if the table has another layout, or does not state the address. `table` must be
  // little-endian and of 64-bit code, and must outlive the object.
  static std::optional<GoFunctions> read(std::span<const uint8_t> table, uint64_t text);

  struct Location {
    uint64_t start = 0;  // address of the function
    std::string_view name;
    std::string_view file;  // of the address, including inlined code; empty if unknown
    uint32_t line = 0;
    std::string_view definition_file;
    uint32_t definition_line = 0;  // Go 1.20 and later
  };
  std::optional<Location> find(uint64_t address) const;

  // Returns the offset past the last function.
  uint64_t end_offset() const { return entry_offset(count_); }

 private:
  using Bytes = std::span<const uint8_t>;

  uint64_t entry_offset(uint64_t index) const;
  std::optional<int32_t> value_at(uint32_t values, uint32_t entry, uint64_t offset) const;
  std::string_view file_at(uint32_t values, uint32_t unit, uint32_t entry, uint64_t offset) const;

  uint64_t text_ = 0;
  uint64_t count_ = 0;    // of functions
  uint32_t quantum_ = 1;  // smallest size of an instruction in bytes
  bool has_start_lines_ = false;
  Bytes names_, units_, files_, values_, functions_;
};

// Returns the table of a Go program. Returns nullopt for other programs, and if the file does not state the
// table's address in memory (position-independent programs that were not linked by Go's own linker).
std::optional<GoFunctions> go_functions(Elf* elf);

}  // namespace prof

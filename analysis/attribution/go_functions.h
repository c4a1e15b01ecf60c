#pragma once
// Names and lines of Go code from the table that Go's own runtime uses (.gopclntab), which `strip` and
// `-ldflags=-s` leave: the layout of Go 1.18 and later. Nothing in the table is believed.

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace prof {

class GoFunctions {
 public:
  // `text`: address of the code to which the table's offsets are relative; 0: as the table says. Nothing
  // where the table is of another layout or does not say. `table` must outlive the object, little-endian, of
  // 64-bit code.
  static std::optional<GoFunctions> read(std::span<const uint8_t> table, uint64_t text);

  struct Place {
    uint64_t start = 0;  // address of the function
    std::string_view name;
    std::string_view file;  // of the address, inlined code included; empty: not known
    uint32_t line = 0;
    std::string_view definition_file;
    uint32_t definition_line = 0;  // Go 1.20 and later
  };
  std::optional<Place> find(uint64_t address) const;

  // Behind the last function.
  uint64_t end_offset() const { return entry_offset(count_); }

 private:
  using Bytes = std::span<const uint8_t>;

  uint64_t entry_offset(uint64_t index) const;
  std::optional<int32_t> value_at(uint32_t values, uint32_t entry, uint64_t offset) const;
  std::string_view file_at(uint32_t values, uint32_t unit, uint32_t entry, uint64_t offset) const;

  uint64_t text_ = 0;
  uint64_t count_ = 0;    // of functions
  uint32_t quantum_ = 1;  // bytes of an instruction at least
  bool has_start_lines_ = false;
  Bytes names_, units_, files_, values_, functions_;
};

// Of a Go program; nothing where it is none, or where the table's place in memory is not known from the file
// (position-independent programs that another linker than Go's own made).
std::optional<GoFunctions> go_functions(Elf* elf);

}  // namespace prof

#pragma once
// Reads from an ELF file that a process has mapped what `prof attach` needs.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "hpcrun/elf/headers.h"

namespace prof {

class ElfFile {
 public:
  // Invalid if the file cannot be read or is not an ELF file.
  explicit ElfFile(const std::string& path);

  bool is_valid() const { return !bytes_.empty(); }
  bool is_64bit_x86() const { return is_64bit_x86_; }
  bool has_section(std::string_view name) const;

  // Returns the link-time address of a function that the file exports, or 0 if it does not export it.
  uint64_t function(std::string_view name) const;

  // Calls use(name, link-time address, bytes) for each function in the file's symbol tables.
  void for_each_function(const std::function<void(std::string_view, uint64_t, uint64_t)>& use) const;

  bool is_position_independent() const;

  // Returns the lowest link-time address at which executable code has these bytes, or 0.
  uint64_t find_code(std::string_view wanted) const;

 private:
  hpcrun::BytesSource source() const { return hpcrun::BytesSource(std::string_view(bytes_)); }

  // Calls use(name, symbol) with each function of the tables of these types until it returns true.
  template <typename Use>
  bool any_function(std::initializer_list<uint32_t> tables, Use use) const;

  std::string bytes_;
  Elf64_Ehdr header_{};
  bool is_64bit_x86_ = false;
};

}  // namespace prof

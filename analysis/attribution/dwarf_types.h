#pragma once
// Reads types from DWARF: the type that a DIE refers to, its size, offsets of members, bounds of arrays. Used
// by type_layout.h and type_reader.h. The Dwarf that the DIEs are from must be open.

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/type_tree.h"

namespace prof {

// In damaged debug information, types may refer to themselves.
constexpr int kDeepestType = 32;

// Returns the type of a variable, member, pointer or array; nullopt if it has none ("void").
std::optional<Dwarf_Die> type_of(Dwarf_Die die);

// Returns 0 if the size is unknown.
uint64_t type_bytes(Dwarf_Die type);

// Removes typedef, const, volatile, _Atomic and restrict.
Dwarf_Die peeled(Dwarf_Die type);

// Returns a constant attribute of the DIE; nullopt if it has none, or one of another class.
std::optional<int64_t> dwarf_number(Dwarf_Die die, unsigned name);

// Returns the language of the unit that contains the DIE.
SourceLanguage source_language(Dwarf_Die die);

bool is_fortran(Dwarf_Die die);

// True for names that are reserved for the implementation: "_M_i", "__value".
bool is_reserved(std::string_view name);

// True for types of Rust's own libraries (core, alloc, std), whose members are implementation details.
bool is_of_rust_library(Dwarf_Die type);

// Returns the offset of a member or base, in bytes; nullopt if it is not fixed: statics, virtual bases.
std::optional<uint64_t> member_offset(Dwarf_Die member, bool in_union);

template <typename Visit>
void for_each_child(Dwarf_Die parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

struct ArrayDimension {
  int64_t lower = 0;
  uint64_t count = 0;
  uint64_t stride = 0;  // elements
};

struct ArrayType {
  std::vector<ArrayDimension> dimensions;  // in the order of the source
  Dwarf_Die element;
  uint64_t element_bytes = 0;
  bool is_fortran = false;

  uint64_t count() const;
  std::string index_text(uint64_t index) const;  // "[1][3]", or "(4,2)" in Fortran
};

// Returns nullopt if a bound is only known at run time.
std::optional<ArrayType> array_of(Dwarf_Die type);

}  // namespace prof

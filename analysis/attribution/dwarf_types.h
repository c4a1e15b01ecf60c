#pragma once
// Types as DWARF has them: what a DIE refers to, how large it is, where members begin, how long arrays are.
// For what reads types (type_layout.h, type_tree.h). The Dwarf that DIEs are from must be open.

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/type_tree.h"

namespace prof {

// Debug information may be damaged, and its types go round in circles then.
constexpr int kDeepestType = 32;

// Of a variable, member, pointer or array; nothing where it has none ("void").
std::optional<Dwarf_Die> type_of(Dwarf_Die die);

// 0: not known, or none.
uint64_t type_bytes(Dwarf_Die type);

// Without typedef, const, volatile, _Atomic and restrict.
Dwarf_Die peeled(Dwarf_Die type);

// A constant attribute of the DIE; nothing where it has none, or one of another class.
std::optional<int64_t> dwarf_number(Dwarf_Die die, unsigned name);

// Of the unit that it is in.
SourceLanguage source_language(Dwarf_Die die);

bool is_fortran(Dwarf_Die die);

// Names that are reserved for the implementation: "_M_i", "__value".
bool is_reserved(std::string_view name);

// A type of Rust's own libraries (core, alloc, std), whose members are of the implementation.
bool is_of_rust_library(Dwarf_Die type);

// Where a member or base begins, in bytes; nothing for what has no fixed place: statics, virtual bases.
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
  std::vector<ArrayDimension> dimensions;  // as the source writes them
  Dwarf_Die element;
  uint64_t element_bytes = 0;
  bool is_fortran = false;

  uint64_t count() const;
  std::string index_text(uint64_t index) const;  // "[1][3]", "(4,2)" in Fortran
};

// Nothing where a bound is only known at run time.
std::optional<ArrayType> array_of(Dwarf_Die type);

}  // namespace prof

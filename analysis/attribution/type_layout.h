#pragma once
// What lies where in a value of a type, as the debug information states it: fields, elements of arrays,
// padding. Types are DIEs; the Dwarf that they are from must be open.

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

struct DataPart {
  std::string
      path;  // from the value: ".hits", "[3].position[1]", "(2,7)" in Fortran; empty: the value itself
  std::string type;     // as the source writes it, without scopes: "atomic<unsigned long>"
  uint64_t offset = 0;  // bytes from the value's begin
  uint64_t bytes = 0;
  uint32_t line = 0;  // of the field's declaration; 0: not a field, or not known
};

// "Statistics[4]", "const char*"; "?" for what has no name.
std::string type_name(Dwarf_Die type);

constexpr size_t kMostParts = 4096;

// The innermost parts of the value with bytes in [from, to), in the order of the source; a union's all,
// padding not. Members whose names are reserved for the implementation ("_M_i") are passed through. At most
// kMostParts.
std::vector<DataPart> parts_between(Dwarf_Die type, uint64_t from, uint64_t to);

}  // namespace prof

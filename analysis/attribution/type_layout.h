#pragma once
// The layout of a value by the debug information: fields, array elements, padding. Types are DIEs; the Dwarf
// that they are from must be open.

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

struct DataPart {
  std::string path;     // ".hits", "[3].position[1]", "(2,7)" in Fortran; empty for the value itself
  std::string type;     // as in the source, without scopes: "atomic<unsigned long>"
  uint64_t offset = 0;  // bytes from the value's start
  uint64_t bytes = 0;
  uint32_t line = 0;  // of the field's declaration; 0 if unknown or not a field
};

// Returns "Statistics[4]", "const char*"; "?" for a type without a name.
std::string type_name(Dwarf_Die type);

constexpr size_t kMaxParts = 4096;

// Returns the innermost parts of the value that have bytes in [from, to), in the order of the source: all
// parts of unions, no padding. Descends through members whose names are reserved for the implementation
// ("_M_i"). Returns at most kMaxParts.
std::vector<DataPart> parts_between(Dwarf_Die type, uint64_t from, uint64_t to);

}  // namespace prof

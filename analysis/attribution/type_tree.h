#pragma once
// The layout of C and C++ data, with the parts that can be aligned: types with their members and elements.
// read_type_tree() (type_reader.h) builds it from debug information; analysis/contention/layout.h computes
// layouts with other alignments from it. Types are referred to by their index in the tree; a type that occurs
// in several places is stored once.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// The language of the unit that declares something. Other also means unknown.
enum class SourceLanguage : uint8_t { Other, C, Cpp, Rust, Fortran, Go };

struct TypeMember {
  std::string name;     // empty for a base class, an anonymous union or struct, a name of the implementation
  size_t type = 0;      // index into TypeTree::types
  uint64_t offset = 0;  // bytes from the record's start
  uint64_t asked_alignment = 1;  // bytes; 1 if the member requests none
  std::string file;              // its declaration; empty if unknown
  uint32_t line = 0;
  bool is_base = false;
  bool is_bit_field = false;  // or a run of several, with all their names
};

struct DataType {
  enum class Kind : uint8_t {
    Plain,   // numbers, pointers, and opaque types: unions, types without a fixed layout
    Record,  // struct and class
    Array,   // of one dimension; several dimensions are arrays of arrays
  };
  Kind kind = Kind::Plain;
  std::string name;  // "struct Statistics", "long unsigned int"; "?" if it has none
  std::string file;  // its definition; empty if unknown
  uint32_t line = 0;
  uint64_t bytes = 0;
  uint64_t alignment = 1;           // bytes; for records and arrays, what the type itself requests
  std::vector<TypeMember> members;  // of a record, sorted by offset
  size_t element = 0;               // of an array, index into TypeTree::types
  uint64_t count = 0;
};

struct TypeTree {
  SourceLanguage language = SourceLanguage::Cpp;
  std::vector<DataType> types;  // the first is the type of the data
};

}  // namespace prof

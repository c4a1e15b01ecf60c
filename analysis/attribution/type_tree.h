#pragma once
// How data of C and C++ are laid out, with what an alignment can be put before: types with their members and
// elements. read_type_tree() (type_reader.h) makes it from debug information, layouts with other alignments
// are computed from it (analysis/contention/layout.h). What a type contains is told by its index in the tree;
// a type that occurs in several places is there once.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// Of the unit that declares something; Other: not known, too.
enum class SourceLanguage : uint8_t { Other, C, Cpp, Rust, Fortran, Go };

struct TypeMember {
  std::string name;     // empty: a base class, an anonymous union or struct, a name of the implementation
  size_t type = 0;      // in TypeTree::types
  uint64_t offset = 0;  // bytes from the record's begin
  uint64_t asked_alignment = 1;  // bytes; 1: the member asks for none
  std::string file;              // where it is declared; empty: not known
  uint32_t line = 0;
  bool is_base = false;
  bool is_bit_field = false;  // or several in a row, with all their names
};

struct DataType {
  enum class Kind : uint8_t {
    Plain,   // numbers, pointers, and what is not looked into: unions, what has no fixed layout
    Record,  // struct and class
    Array,   // of one dimension; those of several are arrays of arrays
  };
  Kind kind = Kind::Plain;
  std::string name;  // "struct Statistics", "long unsigned int"; "?" for what has none
  std::string file;  // where it is defined; empty: not known
  uint32_t line = 0;
  uint64_t bytes = 0;
  uint64_t alignment = 1;           // bytes; of records and arrays what the type itself asks for
  std::vector<TypeMember> members;  // of a record, by offset
  size_t element = 0;               // of an array, in TypeTree::types
  uint64_t count = 0;
};

struct TypeTree {
  SourceLanguage language = SourceLanguage::Cpp;
  std::vector<DataType> types;  // the first is that of the data
};

}  // namespace prof

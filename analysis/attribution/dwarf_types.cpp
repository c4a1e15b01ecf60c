#include "analysis/attribution/dwarf_types.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace prof {

std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr)
    return {};
  return type;
}

uint64_t type_bytes(Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  return dwarf_aggregate_size(&type, &bytes) == 0 ? bytes : 0;
}

Dwarf_Die peeled(Dwarf_Die type) {
  Dwarf_Die bare;
  return dwarf_peel_type(&type, &bare) == 0 ? bare : type;
}

std::optional<int64_t> dwarf_number(Dwarf_Die die, unsigned name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return {};
  Dwarf_Sword value = 0;
  Dwarf_Word positive = 0;
  switch (dwarf_whatform(&attribute)) {
    // Compilers write negative numbers in other forms; libdw would read 128 in one byte as -128.
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
      if (dwarf_formudata(&attribute, &positive) != 0) return {};
      return static_cast<int64_t>(positive);
    default:
      if (dwarf_formsdata(&attribute, &value) != 0) return {};
      return value;
  }
}

SourceLanguage source_language(Dwarf_Die die) {
  // Constants of DWARF 6 that compilers already use and <dwarf.h> lacks.
  constexpr int kCpp17 = 0x2a, kCpp20 = 0x2b, kC17 = 0x2c, kFortran18 = 0x2d;
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return SourceLanguage::Other;
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case kC17:
      return SourceLanguage::C;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case kCpp17:
    case kCpp20:
      return SourceLanguage::Cpp;
    case DW_LANG_Rust:
      return SourceLanguage::Rust;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case kFortran18:
      return SourceLanguage::Fortran;
    case DW_LANG_Go:
      return SourceLanguage::Go;
    default:
      return SourceLanguage::Other;
  }
}

bool is_fortran(Dwarf_Die die) {
  return source_language(die) == SourceLanguage::Fortran;
}

bool is_of_rust_library(Dwarf_Die type) {
  if (source_language(type) != SourceLanguage::Rust) return false;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&type, &scopes);
  std::string_view root;  // the outermost namespace, just inside the unit
  if (count >= 3)
    if (const char* const name = dwarf_diename(&scopes[count - 2]); name != nullptr) root = name;
  const bool is_library = root == "core" || root == "alloc" || root == "std";
  std::free(scopes);  // NOLINT(cppcoreguidelines-no-malloc): allocated by libdw
  return is_library;
}

bool is_reserved(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])));
}

std::optional<uint64_t> member_offset(Dwarf_Die member, bool in_union) {
  if (dwarf_hasattr(&member, DW_AT_external) || dwarf_hasattr(&member, DW_AT_const_value)) return {};
  std::optional<int64_t> offset = dwarf_number(member, DW_AT_data_member_location);
  if (!offset) {
    const std::optional<int64_t> bits = dwarf_number(member, DW_AT_data_bit_offset);
    if (bits) offset = *bits / 8;
  }
  if (!offset && in_union) offset = 0;
  if (!offset || *offset < 0) return {};
  return static_cast<uint64_t>(*offset);
}

uint64_t ArrayType::count() const {
  uint64_t all = 1;
  for (const ArrayDimension& dimension : dimensions)
    if (__builtin_mul_overflow(all, dimension.count, &all)) return 0;
  return all;
}

std::string ArrayType::index_text(uint64_t index) const {
  std::string text;
  for (const ArrayDimension& dimension : dimensions) {
    const int64_t at = dimension.lower + static_cast<int64_t>(index / dimension.stride % dimension.count);
    if (is_fortran)
      text += (text.empty() ? "(" : ",") + std::to_string(at);
    else
      text += "[" + std::to_string(at) + "]";
  }
  return is_fortran ? text + ")" : text;
}

std::optional<ArrayType> array_of(Dwarf_Die type) {
  const std::optional<Dwarf_Die> element = type_of(type);
  if (!element) return {};
  ArrayType array;
  array.element = *element;
  array.element_bytes = type_bytes(*element);
  array.is_fortran = is_fortran(type);
  bool is_known = array.element_bytes != 0;
  for_each_child(type, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
    ArrayDimension dimension;
    dimension.lower = dwarf_number(child, DW_AT_lower_bound).value_or(array.is_fortran ? 1 : 0);
    const std::optional<int64_t> count = dwarf_number(child, DW_AT_count);
    const std::optional<int64_t> upper = dwarf_number(child, DW_AT_upper_bound);
    int64_t elements = count.value_or(0);
    if (!count && upper && (__builtin_sub_overflow(*upper, dimension.lower, &elements) || ++elements < 0))
      elements = 0;
    dimension.count = static_cast<uint64_t>(std::max<int64_t>(elements, 0));
    is_known = is_known && dimension.count;
    array.dimensions.push_back(dimension);
  });
  if (!is_known || array.dimensions.empty() || !array.count()) return {};
  uint64_t stride = 1;
  for (size_t i = 0; i < array.dimensions.size(); ++i) {
    const size_t fastest = array.is_fortran ? i : array.dimensions.size() - 1 - i;
    array.dimensions[fastest].stride = stride;
    stride *= array.dimensions[fastest].count;
  }
  return array;
}

}  // namespace prof

#include "analysis/attribution/dwarf_types.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>

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
    // Compilers write negative numbers in other forms; libdw would take 128 in one byte for -128.
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

std::optional<int> language_of(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return {};
  const int language = dwarf_srclang(&unit);
  return language < 0 ? std::nullopt : std::optional(language);
}

bool is_fortran(Dwarf_Die die) {
  switch (language_of(die).value_or(0)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
      return true;
    default:
      return false;
  }
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

#include "analysis/attribution/type_layout.h"

#include <dwarf.h>

#include <algorithm>

#include "analysis/attribution/dwarf_types.h"

namespace prof {
namespace {

// The innermost named member or element on the way to a part.
struct Named {
  std::string path;
  Dwarf_Die type;
  uint32_t line;
};

class Collector {
 public:
  Collector(uint64_t from, uint64_t to) : from_(from), to_(to) {}

  void collect(Dwarf_Die type, const Named& named, uint64_t offset, int depth) {
    if (parts_.size() >= kMaxParts || depth > kDeepestType) return;
    const Dwarf_Die bare = peeled(type);
    Dwarf_Die die = bare;
    switch (dwarf_tag(&die)) {
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
        if (collect_members(bare, named, offset, depth)) return;
        break;
      case DW_TAG_array_type:
        if (collect_elements(bare, named, offset, depth)) return;
        break;
      default:
        break;
    }
    add(type, named, offset);
  }

  std::vector<DataPart> take() { return std::move(parts_); }

 private:
  bool touches(uint64_t offset, uint64_t bytes) const {
    return offset < to_ && (offset >= from_ ? bytes > 0 : bytes > from_ - offset);
  }

  // A part that is all of an atomic<T> gets that type, as users know it.
  void add(Dwarf_Die type, const Named& named, uint64_t offset) {
    const uint64_t bytes = type_bytes(type);
    if (!touches(offset, bytes)) return;
    const std::string name = type_name(type_bytes(named.type) == bytes ? named.type : type);
    parts_.push_back({named.path, name, offset, bytes, named.line});
  }

  // Returns false if the type has no members, so that it is itself a part.
  bool collect_members(Dwarf_Die type, const Named& named, uint64_t base, int depth) {
    Dwarf_Die parent = type;
    const bool is_union = dwarf_tag(&parent) == DW_TAG_union_type;
    const bool is_library = is_of_rust_library(type);
    bool any = false;
    for_each_child(type, [&](Dwarf_Die child) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return;
      const std::optional<uint64_t> offset = member_offset(child, is_union);
      const std::optional<Dwarf_Die> member = type_of(child);
      if (!offset || !member) return;
      const char* const name = dwarf_diename(&child);
      const bool is_named = tag == DW_TAG_member && name != nullptr && !is_reserved(name) && !is_library;
      any = true;
      if (!touches(base + *offset, type_bytes(*member))) return;
      if (!is_named) return collect(*member, named, base + *offset, depth + 1);
      int line = 0;
      dwarf_decl_line(&child, &line);
      collect(*member, {named.path + "." + name, *member, static_cast<uint32_t>(line)}, base + *offset,
              depth + 1);
    });
    return any;
  }

  bool collect_elements(Dwarf_Die type, const Named& named, uint64_t base, int depth) {
    const std::optional<ArrayType> array = array_of(type);
    if (!array) return false;
    if (base >= to_) return true;
    const uint64_t first = from_ > base ? (from_ - base) / array->element_bytes : 0;
    const uint64_t end = std::min(array->count(), (to_ - base - 1) / array->element_bytes + 1);
    for (uint64_t index = first; index < end && parts_.size() < kMaxParts; ++index)
      collect(array->element, {named.path + array->index_text(index), array->element, named.line},
              base + index * array->element_bytes, depth + 1);
    return true;
  }

  uint64_t from_;
  uint64_t to_;
  std::vector<DataPart> parts_;
};

std::string name_within(Dwarf_Die type, int depth);

std::string referred_name(Dwarf_Die type, int depth) {
  const std::optional<Dwarf_Die> target = type_of(type);
  return target ? name_within(*target, depth + 1) : "void";
}

std::string array_name(Dwarf_Die type, int depth) {
  std::string bounds;
  for_each_child(type, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
    const std::optional<int64_t> count = dwarf_number(child, DW_AT_count);
    const std::optional<int64_t> upper = dwarf_number(child, DW_AT_upper_bound);
    const int64_t lower = dwarf_number(child, DW_AT_lower_bound).value_or(is_fortran(type) ? 1 : 0);
    std::string text = "?";
    int64_t elements = 0;
    if (count)
      text = std::to_string(*count);
    else if (upper && !__builtin_sub_overflow(*upper, lower, &elements) && elements < INT64_MAX)
      text = std::to_string(elements + 1);
    bounds += "[" + text + "]";
  });
  return referred_name(type, depth) + bounds;
}

std::string name_within(Dwarf_Die type, int depth) {
  if (depth > kDeepestType) return "?";
  const char* const name = dwarf_diename(&type);
  switch (dwarf_tag(&type)) {
    case DW_TAG_const_type:
      return "const " + referred_name(type, depth);
    case DW_TAG_volatile_type:
      return "volatile " + referred_name(type, depth);
    case DW_TAG_atomic_type:
      return "_Atomic " + referred_name(type, depth);
    case DW_TAG_pointer_type:
      // Rust's pointer types have names.
      return name != nullptr ? name : referred_name(type, depth) + "*";
    case DW_TAG_reference_type:
      return referred_name(type, depth) + "&";
    case DW_TAG_rvalue_reference_type:
      return referred_name(type, depth) + "&&";
    case DW_TAG_array_type:
      return array_name(type, depth);
    case DW_TAG_subroutine_type:
      return "function";
    default:
      return name == nullptr ? "?" : name;
  }
}

}  // namespace

std::string type_name(Dwarf_Die type) {
  return name_within(type, 0);
}

std::vector<DataPart> parts_between(Dwarf_Die type, uint64_t from, uint64_t to) {
  Collector collector(from, to);
  if (from < to) collector.collect(type, {"", type, 0}, 0, 0);
  return collector.take();
}

}  // namespace prof

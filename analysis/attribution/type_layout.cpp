#include "analysis/attribution/type_layout.h"

#include <dwarf.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace prof {

std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr)
    return {};
  return type;
}

namespace {

// Debug information may be damaged, and its types go round in circles then.
constexpr int kDeepest = 32;

std::optional<int64_t> number(Dwarf_Die die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Sword value = 0;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr || dwarf_formsdata(&attribute, &value) != 0)
    return {};
  return value;
}

// Without typedef, const, volatile, _Atomic and restrict.
Dwarf_Die peeled(Dwarf_Die type) {
  Dwarf_Die bare;
  return dwarf_peel_type(&type, &bare) == 0 ? bare : type;
}

template <typename Visit>
void for_each_child(Dwarf_Die parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

bool is_fortran(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  switch (dwarf_srclang(&unit)) {
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

struct Dimension {
  int64_t lower = 0;
  uint64_t count = 0;
  uint64_t stride = 0;  // elements
};

struct Array {
  std::vector<Dimension> dimensions;  // as the source writes them
  Dwarf_Die element;
  uint64_t element_bytes = 0;
  bool is_fortran = false;

  uint64_t count() const {
    uint64_t all = 1;
    for (const Dimension& dimension : dimensions)
      if (__builtin_mul_overflow(all, dimension.count, &all)) return 0;
    return all;
  }

  std::string index_text(uint64_t index) const {
    std::string text;
    for (const Dimension& dimension : dimensions) {
      const int64_t at = dimension.lower + static_cast<int64_t>(index / dimension.stride % dimension.count);
      if (is_fortran)
        text += (text.empty() ? "(" : ",") + std::to_string(at);
      else
        text += "[" + std::to_string(at) + "]";
    }
    return is_fortran ? text + ")" : text;
  }
};

// Nothing where a bound is only known at run time.
std::optional<Array> array_of(Dwarf_Die type) {
  const std::optional<Dwarf_Die> element = type_of(type);
  if (!element) return {};
  Array array;
  array.element = *element;
  array.element_bytes = type_bytes(*element);
  array.is_fortran = is_fortran(type);
  bool is_known = array.element_bytes != 0;
  for_each_child(type, [&](Dwarf_Die child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return;
    Dimension dimension;
    dimension.lower = number(child, DW_AT_lower_bound).value_or(array.is_fortran ? 1 : 0);
    const std::optional<int64_t> count = number(child, DW_AT_count);
    const std::optional<int64_t> upper = number(child, DW_AT_upper_bound);
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

bool is_reserved(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])));
}

// Where a member or base begins; nothing for what has no fixed place: statics, virtual bases.
std::optional<uint64_t> member_offset(Dwarf_Die member, bool in_union) {
  if (dwarf_hasattr(&member, DW_AT_external) || dwarf_hasattr(&member, DW_AT_const_value)) return {};
  std::optional<int64_t> offset = number(member, DW_AT_data_member_location);
  if (!offset) {
    const std::optional<int64_t> bits = number(member, DW_AT_data_bit_offset);
    if (bits) offset = *bits / 8;
  }
  if (!offset && in_union) offset = 0;
  if (!offset || *offset < 0) return {};
  return static_cast<uint64_t>(*offset);
}

// What the innermost name on the way to a part stands for.
struct Named {
  std::string path;
  Dwarf_Die type;
  uint32_t line;
};

class Collector {
 public:
  Collector(uint64_t from, uint64_t to) : from_(from), to_(to) {}

  void collect(Dwarf_Die type, const Named& named, uint64_t offset, int depth) {
    if (parts_.size() >= kMostParts || depth > kDeepest) return;
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

  // What is all of an atomic<T> is an atomic<T> to its users.
  void add(Dwarf_Die type, const Named& named, uint64_t offset) {
    const uint64_t bytes = type_bytes(type);
    if (!touches(offset, bytes)) return;
    const std::string name = type_name(type_bytes(named.type) == bytes ? named.type : type);
    parts_.push_back({named.path, name, offset, bytes, named.line});
  }

  // False where the type has no members, and so is a part itself.
  bool collect_members(Dwarf_Die type, const Named& named, uint64_t base, int depth) {
    Dwarf_Die parent = type;
    const bool is_union = dwarf_tag(&parent) == DW_TAG_union_type;
    bool any = false;
    for_each_child(type, [&](Dwarf_Die child) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return;
      const std::optional<uint64_t> offset = member_offset(child, is_union);
      const std::optional<Dwarf_Die> member = type_of(child);
      if (!offset || !member) return;
      const char* const name = dwarf_diename(&child);
      const bool is_named = tag == DW_TAG_member && name != nullptr && !is_reserved(name);
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
    const std::optional<Array> array = array_of(type);
    if (!array) return false;
    if (base >= to_) return true;
    const uint64_t first = from_ > base ? (from_ - base) / array->element_bytes : 0;
    const uint64_t end = std::min(array->count(), (to_ - base - 1) / array->element_bytes + 1);
    for (uint64_t index = first; index < end && parts_.size() < kMostParts; ++index)
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
    const std::optional<int64_t> count = number(child, DW_AT_count);
    const std::optional<int64_t> upper = number(child, DW_AT_upper_bound);
    const int64_t lower = number(child, DW_AT_lower_bound).value_or(is_fortran(type) ? 1 : 0);
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
  if (depth > kDeepest) return "?";
  const char* const name = dwarf_diename(&type);
  switch (dwarf_tag(&type)) {
    case DW_TAG_const_type:
      return "const " + referred_name(type, depth);
    case DW_TAG_volatile_type:
      return "volatile " + referred_name(type, depth);
    case DW_TAG_atomic_type:
      return "_Atomic " + referred_name(type, depth);
    case DW_TAG_pointer_type:
      // Rust's have names of their own.
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

uint64_t type_bytes(Dwarf_Die type) {
  Dwarf_Word bytes = 0;
  return dwarf_aggregate_size(&type, &bytes) == 0 ? bytes : 0;
}

std::vector<DataPart> parts_between(Dwarf_Die type, uint64_t from, uint64_t to) {
  Collector collector(from, to);
  if (from < to) collector.collect(type, {"", type, 0}, 0, 0);
  return collector.take();
}

}  // namespace prof

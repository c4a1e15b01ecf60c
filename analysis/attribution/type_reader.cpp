#include "analysis/attribution/type_reader.h"

#include <dwarf.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "analysis/attribution/dwarf_types.h"
#include "analysis/attribution/type_layout.h"

namespace prof {
namespace {

constexpr uint64_t kMaxVector = 64;   // of AVX-512, in bytes
constexpr uint64_t kMaxNatural = 16;  // largest alignment of a number on x86-64: long double, __int128

// libdw aborts when it reads a declaration's file in a unit without a file table.
std::string declared_in(Dwarf_Die die) {
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr || dwarf_getsrcfiles(&unit, &files, &count) != 0)
    return {};
  const char* const file = dwarf_decl_file(&die);
  return file == nullptr ? "" : file;
}

uint32_t declared_at(Dwarf_Die die) {
  int line = 0;
  return dwarf_decl_line(&die, &line) == 0 ? static_cast<uint32_t>(line) : 0;
}

uint64_t asked_alignment(Dwarf_Die die) {
  const int64_t asked = dwarf_number(die, DW_AT_alignment).value_or(1);
  return asked > 0 && std::has_single_bit(static_cast<uint64_t>(asked)) ? static_cast<uint64_t>(asked) : 1;
}

bool is_bit_field(Dwarf_Die member) {
  return dwarf_hasattr(&member, DW_AT_data_bit_offset) || dwarf_hasattr(&member, DW_AT_bit_size);
}

// Returns the bits that a bit field occupies, from the record's first bit on. GCC's DWARF 4 counts from the
// most significant bit of the storage.
std::pair<uint64_t, uint64_t> bits_of(Dwarf_Die member, uint64_t storage_bytes) {
  const auto size = static_cast<uint64_t>(dwarf_number(member, DW_AT_bit_size).value_or(0));
  if (const auto from = dwarf_number(member, DW_AT_data_bit_offset))
    return {static_cast<uint64_t>(*from), size};
  const auto begin = static_cast<uint64_t>(dwarf_number(member, DW_AT_data_member_location).value_or(0)) * 8;
  const auto from_top = static_cast<uint64_t>(dwarf_number(member, DW_AT_bit_offset).value_or(0));
  return {begin + storage_bytes * 8 - std::min(storage_bytes * 8, from_top + size), size};
}

class Reader {
 public:
  std::vector<DataType> take() { return std::move(types_); }

  size_t read(Dwarf_Die type, int depth) {
    uint64_t asked = 1;
    Dwarf_Die bare = type;
    while (is_qualifier(dwarf_tag(&bare))) {
      asked = std::max(asked, asked_alignment(bare));
      const std::optional<Dwarf_Die> next = type_of(bare);
      if (!next || ++depth > kDeepestType) return plain(type);
      bare = *next;
    }
    if (types_.size() >= kMaxTypes || depth > kDeepestType) return plain(type);
    const auto [known, is_new] = known_.try_emplace(bare.addr, kReading);
    if (!is_new) return known->second == kReading ? plain(type) : with_alignment(known->second, asked);
    const size_t read_now = read_bare(bare, depth);
    known_[bare.addr] = read_now;
    return with_alignment(read_now, asked);
  }

 private:
  // In damaged debug information, types contain themselves.
  static constexpr size_t kReading = SIZE_MAX;

  size_t read_bare(Dwarf_Die type, int depth) {
    Dwarf_Die die = type;
    switch (dwarf_tag(&die)) {
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
        return read_record(type, depth);
      case DW_TAG_union_type:
        return read_union(type, depth);
      case DW_TAG_array_type:
        return read_array(type, depth);
      default:
        return plain(type);
    }
  }

  // Returns a new type for a typedef that requests more alignment than its type has.
  size_t with_alignment(size_t type, uint64_t asked) {
    if (asked <= whole_alignment(type)) return type;
    DataType made = types_[type];
    made.alignment = asked;
    types_.push_back(std::move(made));
    return types_.size() - 1;
  }

  static bool is_qualifier(int tag) {
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_atomic_type || tag == DW_TAG_restrict_type;
  }

  size_t plain(Dwarf_Die type) {
    const size_t at = types_.size();
    DataType& made = types_.emplace_back();
    made.name = type_name(type);
    made.bytes = type_bytes(type);
    made.alignment = std::clamp<uint64_t>(std::bit_floor(made.bytes), 1, kMaxNatural);
    Dwarf_Die bare = peeled(type);
    const int64_t encoding = dwarf_number(bare, DW_AT_encoding).value_or(0);
    if (encoding == DW_ATE_complex_float) made.alignment = std::max<uint64_t>(made.alignment / 2, 1);
    // The debug information has no size for it. By the C++ ABI (2.3) it is a number, plus a pointer for
    // functions.
    if (dwarf_tag(&bare) == DW_TAG_ptr_to_member_type) {
      std::optional<Dwarf_Die> target = type_of(bare);
      made.bytes = target && dwarf_tag(&*target) == DW_TAG_subroutine_type ? 16 : 8;
      made.alignment = 8;
    }
    if (dwarf_tag(&bare) == DW_TAG_array_type) {
      const std::optional<Dwarf_Die> element = type_of(bare);
      made.alignment = dwarf_hasattr(&bare, DW_AT_GNU_vector)
                           ? std::bit_ceil(std::clamp<uint64_t>(made.bytes, 1, kMaxVector))
                       : element ? natural_alignment(*element)
                                 : 1;
    }
    return at;
  }

  static uint64_t natural_alignment(Dwarf_Die type) {
    return std::clamp<uint64_t>(std::bit_floor(type_bytes(type)), 1, kMaxNatural);
  }

  size_t begin(Dwarf_Die type, const char* keyword) {
    const size_t at = types_.size();
    DataType& made = types_.emplace_back();
    const std::string name = type_name(type);
    made.name = name == "?" ? name : keyword + name;
    made.bytes = type_bytes(type);
    made.file = declared_in(type);
    made.line = declared_at(type);
    made.alignment = asked_alignment(type);
    return at;
  }

  size_t read_record(Dwarf_Die type, int depth) {
    Dwarf_Die die = type;
    const size_t at = begin(type, dwarf_tag(&die) == DW_TAG_class_type ? "class " : "struct ");
    std::vector<TypeMember> members;
    bool is_known = true;
    uint64_t bits_end = UINT64_MAX;  // end of the current run of bit fields
    for_each_child(type, [&](Dwarf_Die child) {
      const int tag = dwarf_tag(&child);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return;
      if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_const_value)) return;
      const std::optional<Dwarf_Die> member = type_of(child);
      const std::optional<uint64_t> offset = member_offset(child, false);
      is_known = is_known && member && offset;
      if (!is_known) return;
      const char* const name = tag == DW_TAG_member ? dwarf_diename(&child) : nullptr;
      if (is_bit_field(child)) return add_bits(child, *member, name ? name : "", members, bits_end);
      bits_end = UINT64_MAX;
      TypeMember& made = members.emplace_back();
      if (name && !is_reserved(name)) made.name = name;
      made.type = read(*member, depth + 1);
      made.offset = *offset;
      made.asked_alignment = asked_alignment(child);
      made.file = declared_in(child);
      made.line = declared_at(child);
      made.is_base = tag == DW_TAG_inheritance;
    });
    if (!is_known || members.empty()) return at;
    std::ranges::stable_sort(members, {}, &TypeMember::offset);
    types_[at].kind = DataType::Kind::Record;
    types_[at].members = std::move(members);
    return at;
  }

  void add_bits(Dwarf_Die child, Dwarf_Die storage, const std::string& name, std::vector<TypeMember>& members,
                uint64_t& end) {
    const auto [from, size] = bits_of(child, type_bytes(storage));
    if (members.empty() || end != from) {
      TypeMember& made = members.emplace_back();
      made.name = name;
      made.offset = from / 8;
      made.file = declared_in(child);
      made.line = declared_at(child);
      made.is_bit_field = true;
      made.type = types_.size();
      DataType& bits = types_.emplace_back();
      bits.name = type_name(storage);
      const uint64_t natural = natural_alignment(storage);
      bits.alignment = made.offset % natural == 0 ? natural : 1;
    } else {
      members.back().name += ", " + name;
    }
    end = from + size;
    types_[members.back().type].bytes = (end + 7) / 8 - members.back().offset;
  }

  // Does not descend into the union, but computes its alignment from its members.
  size_t read_union(Dwarf_Die type, int depth) {
    const size_t at = begin(type, "union ");
    uint64_t alignment = types_[at].alignment;
    for_each_child(type, [&](Dwarf_Die child) {
      const std::optional<Dwarf_Die> member = type_of(child);
      if (dwarf_tag(&child) != DW_TAG_member || !member) return;
      alignment = std::max({alignment, asked_alignment(child), whole_alignment(read(*member, depth + 1))});
    });
    types_[at].alignment = alignment;
    return at;
  }

  uint64_t whole_alignment(size_t type) const {
    const DataType& of = types_[type];
    uint64_t alignment = of.alignment;
    for (const TypeMember& member : of.members)
      alignment = std::max({alignment, member.asked_alignment, whole_alignment(member.type)});
    return of.kind == DataType::Kind::Array ? std::max(alignment, whole_alignment(of.element)) : alignment;
  }

  size_t read_array(Dwarf_Die type, int depth) {
    const std::optional<ArrayType> array = array_of(type);
    if (!array || dwarf_hasattr(&type, DW_AT_GNU_vector)) return plain(type);
    size_t outer = 0;
    uint64_t count = array->count();
    const size_t first = types_.size();
    for (const ArrayDimension& dimension : array->dimensions) {
      outer = types_.size();
      DataType& made = types_.emplace_back();
      made.kind = DataType::Kind::Array;
      made.name = type_name(type);
      made.bytes = count * array->element_bytes;
      made.count = dimension.count;
      made.element = outer + 1;
      count /= dimension.count;
    }
    const size_t element = read(array->element, depth + 1);
    types_[outer].element = element;
    return first;
  }

  std::vector<DataType> types_;
  std::unordered_map<const void*, size_t> known_;  // by the address of the DIE
};

}  // namespace

std::optional<TypeTree> read_type_tree(Dwarf_Die type) {
  const SourceLanguage language = source_language(type);
  const bool is_c = language == SourceLanguage::C || language == SourceLanguage::Cpp;
  if (!is_c || type_bytes(type) == 0) return {};
  Reader reader;
  reader.read(type, 0);
  return TypeTree{language, reader.take()};
}

}  // namespace prof

#include "analysis/attribution/variables.h"

#include <dwarf.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/attribution/demangle.h"
#include "analysis/attribution/dwarf_types.h"
#include "analysis/attribution/symbols.h"
#include "analysis/attribution/type_reader.h"

namespace prof {
namespace {

constexpr int kDeepestScope = 64;

// Returns the address of a variable; nullopt for thread-local ones and those in registers or on the stack.
std::optional<uint64_t> static_address(Dwarf_Die die) {
  Dwarf_Attribute location;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_attr_integrate(&die, DW_AT_location, &location) == nullptr ||
      dwarf_getlocation(&location, &operations, &count) != 0 || count == 0 || count > 2)
    return {};
  uint64_t address = 0;
  if (operations[0].atom == DW_OP_addr) {
    address = operations[0].number;
  } else if (operations[0].atom == DW_OP_addrx || operations[0].atom == DW_OP_GNU_addr_index) {
    Dwarf_Attribute indexed;
    if (dwarf_getlocation_attr(&location, operations, &indexed) != 0 ||
        dwarf_formaddr(&indexed, &address) != 0)
      return {};
  } else {
    return {};
  }
  if (count == 2 && operations[1].atom != DW_OP_plus_uconst) return {};
  return count == 2 ? address + operations[1].number : address;
}

std::string linkage_name(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) continue;
    if (const char* const text = dwarf_formstring(&attribute); text != nullptr) return text;
  }
  return {};
}

std::string scope_name(Dwarf_Die die) {
  const char* const name = dwarf_diename(&die);
  switch (dwarf_tag(&die)) {
    case DW_TAG_subprogram:
      return name == nullptr ? "" : std::string(name) + "()::";
    case DW_TAG_namespace:
      return std::string(name == nullptr ? "(anonymous namespace)" : name) + "::";
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
      return {};
    default:
      return name == nullptr ? "" : std::string(name) + "::";
  }
}

bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_namespace:
    case DW_TAG_lexical_block:
    case DW_TAG_module:
    case DW_TAG_common_block:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct Variables::Unit {
  uint64_t bias;
  SourceLanguage language;
  bool has_files;  // libdw aborts when it reads a declaration's file in a unit without a file table
  std::unordered_map<const void*, std::string> scopes;  // of declarations, by the address of their DIE
};

namespace {

// Returns the declaration that an out-of-scope definition refers to.
const void* specification(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die declaration;
  if (dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &declaration) == nullptr)
    return nullptr;
  return declaration.addr;
}

}  // namespace

Variables::Variables(const ModuleFile& file) {
  uint64_t bias = 0;
  if (Dwarf* const debug = file.dwarf(bias); debug != nullptr) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    Dwarf_Die split;
    uint8_t type = 0;
    while (dwarf_get_units(debug, unit, &unit, nullptr, &type, &die, &split) == 0) {
      Dwarf_Die contents = type == DW_UT_skeleton && split.addr != nullptr ? split : die;
      Dwarf_Files* files = nullptr;
      size_t file_count = 0;
      Unit reading{
          bias, source_language(contents), dwarf_getsrcfiles(&contents, &files, &file_count) == 0, {}};
      read_scope(contents, "", reading, 0);
    }
  }
  add_symbols(file);
  sort();
}

void Variables::read_scope(Dwarf_Die parent, const std::string& scope, Unit& unit, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestScope || dwarf_child(&parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variable || tag == DW_TAG_member)
      read_variable(child, scope, unit);
    else if (is_scope(tag) && dwarf_haschildren(&child) != 0)
      read_scope(child, scope + scope_name(child), unit, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void Variables::read_variable(Dwarf_Die die, const std::string& scope, Unit& unit) {
  const std::optional<uint64_t> address = static_address(die);
  if (!address) {
    if (!scope.empty() && dwarf_hasattr(&die, DW_AT_declaration)) unit.scopes.emplace(die.addr, scope);
    return;
  }
  Entry entry;
  entry.type = type_of(die);
  entry.variable.address = *address + unit.bias;
  entry.variable.language = unit.language;
  if (entry.type) {
    entry.variable.bytes = type_bytes(*entry.type);
    entry.variable.type = type_name(*entry.type);
  }
  const char* const name = dwarf_diename(&die);
  const std::string linked = linkage_name(die);
  const auto declared = unit.scopes.find(specification(die));
  const std::string& own_scope = declared == unit.scopes.end() ? scope : declared->second;
  entry.variable.name = linked.empty() ? own_scope + (name == nullptr ? "?" : name) : demangle(linked);
  if (const char* const file = unit.has_files ? dwarf_decl_file(&die) : nullptr; file != nullptr)
    entry.variable.file = file;
  int line = 0;
  if (dwarf_decl_line(&die, &line) == 0) entry.variable.line = static_cast<uint32_t>(line);
  entries_.push_back(std::move(entry));
}

// Adds variables without debug information, and sizes that it does not state.
void Variables::add_symbols(const ModuleFile& file) {
  for (const NamedRange& range : object_symbols(file)) {
    Entry entry;
    entry.variable.name = demangle(range.name);
    entry.is_mangled = entry.variable.name != range.name;
    entry.variable.address = range.start;
    entry.variable.bytes = range.end - range.start;
    entries_.push_back(std::move(entry));
  }
}

// Merges entries of one address: keeps the one with a type, and takes the size and the scoped name from the
// symbol if they are better.
void Variables::sort() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.variable.address, !a.type, b.variable.bytes) <
           std::tuple(b.variable.address, !b.type, a.variable.bytes);
  });
  std::vector<Entry> kept;
  for (Entry& entry : entries_) {
    if (!kept.empty() && kept.back().variable.address == entry.variable.address) {
      Variable& first = kept.back().variable;
      if (!first.bytes) first.bytes = entry.variable.bytes;
      if (entry.is_mangled) first.name = entry.variable.name;
      continue;
    }
    kept.push_back(std::move(entry));
  }
  std::erase_if(kept, [](const Entry& entry) { return entry.variable.bytes == 0; });
  entries_ = std::move(kept);
}

const Variable* Variables::find(uint64_t address) const {
  auto at = std::upper_bound(entries_.begin(), entries_.end(), address,
                             [](uint64_t a, const Entry& entry) { return a < entry.variable.address; });
  if (at == entries_.begin()) return nullptr;
  --at;
  return address - at->variable.address < at->variable.bytes ? &at->variable : nullptr;
}

const Dwarf_Die* Variables::type_of_entry(const Variable& variable) const {
  const auto entry =
      std::lower_bound(entries_.begin(), entries_.end(), variable.address,
                       [](const Entry& known, uint64_t a) { return known.variable.address < a; });
  const bool has_type = entry != entries_.end() && &entry->variable == &variable && entry->type;
  return has_type ? &*entry->type : nullptr;
}

std::vector<DataPart> Variables::parts(const Variable& variable, uint64_t from, uint64_t to) const {
  const Dwarf_Die* const type = type_of_entry(variable);
  if (type == nullptr) return {{"", "", 0, variable.bytes, 0}};
  return parts_between(*type, from, std::min(to, variable.bytes));
}

std::optional<TypeTree> Variables::type_tree(const Variable& variable) const {
  const Dwarf_Die* const type = type_of_entry(variable);
  return type == nullptr ? std::nullopt : read_type_tree(*type);
}

}  // namespace prof

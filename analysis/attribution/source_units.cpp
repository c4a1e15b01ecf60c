#include "analysis/attribution/source_units.h"

#include <dwarf.h>
#include <elf.h>

#include <algorithm>
#include <tuple>

#include "analysis/attribution/qualified_names.h"
#include "analysis/attribution/unit_index.h"

namespace prof {
namespace {

// libdw keeps every decoded line table (about 100 bytes per row with its sorting). Beyond this many rows the
// file is reopened, which limits them to about 200 MB.
constexpr size_t kMaxHeldLineRows = 2'000'000;

uint64_t lowest_code_address(Elf* elf) {
  size_t count = 0;
  uint64_t lowest = UINT64_MAX;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) lowest = std::min(lowest, header.p_vaddr);
  }
  return lowest == UINT64_MAX ? 0 : lowest;
}

constexpr uint32_t kNoScope = UINT32_MAX;

// A function, or a function inlined into its parent scope.
struct Scope {
  uint32_t parent;
  uint32_t function;
  uint32_t call_file;  // in the parent's code
  uint32_t call_line;
};

struct Queried {
  uint64_t address;  // as in the DWARF
  uint32_t index;    // in the caller's list
  uint32_t scope = kNoScope;
};

// Reads one unit that covers some of the requested addresses.
class UnitReader {
 public:
  // `unit` has the line table; `contents` describes the functions (the same DIE, or the one in the .dwo
  // file).
  UnitReader(Dwarf_Die unit, Dwarf_Die contents, uint64_t bias, FunctionTable& table, QualifiedNames& names);

  // `queried` must be ascending.
  void attribute(std::span<Queried> queried, SourceChains& out);

  size_t line_rows() const { return line_count_; }

 private:
  bool touches(Dwarf_Die& die) const;
  void visit_children(Dwarf_Die die, uint32_t scope, bool everything);
  void visit(Dwarf_Die& die, uint32_t scope, bool everything);
  void enter(Dwarf_Die& die, uint32_t parent, bool inlined, bool everything);
  uint32_t function_of(Dwarf_Die& die, bool inlined);
  uint32_t call_file(Dwarf_Die& die);
  uint32_t interned_file(const char* path);
  std::vector<AttributedFrame> chain_of(uint32_t scope, AttributedFrame place) const;
  AttributedFrame place_of(uint64_t address);

  Dwarf_Die unit_;
  Dwarf_Die contents_;
  uint64_t bias_;
  FunctionTable& table_;
  QualifiedNames& names_;
  std::filesystem::path folder_;  // where the unit was compiled, if known and not mapped away
  std::span<Queried> queried_;
  std::vector<Scope> scopes_;
  Dwarf_Lines* lines_ = nullptr;
  size_t line_count_ = 0;
  Dwarf_Files* call_files_ = nullptr;
  std::unordered_map<const char*, uint32_t> files_;      // libdw returns one pointer per file of a unit
  std::unordered_map<const void*, uint32_t> functions_;  // by the address of the defining DIE
};

UnitReader::UnitReader(Dwarf_Die unit, Dwarf_Die contents, uint64_t bias, FunctionTable& table,
                       QualifiedNames& names)
    : unit_(unit), contents_(contents), bias_(bias), table_(table), names_(names) {
  Dwarf_Attribute attribute;
  const char* const folder = dwarf_formstring(dwarf_attr(&unit_, DW_AT_comp_dir, &attribute));
  if (folder != nullptr && folder[0] == '/') folder_ = folder;
  size_t file_count = 0;
  if (dwarf_getsrclines(&unit_, &lines_, &line_count_) != 0) line_count_ = 0;
  if (dwarf_getsrcfiles(&contents_, &call_files_, &file_count) != 0) call_files_ = nullptr;
}

std::span<Queried> within(std::span<Queried> queried, uint64_t low, uint64_t high) {
  const auto below = [](const Queried& query, uint64_t address) { return query.address < address; };
  const auto first = std::lower_bound(queried.begin(), queried.end(), low, below);
  return {first, std::lower_bound(first, queried.end(), std::max(low, high), below)};
}

template <typename Visitor>
void for_each_range(Dwarf_Die& die, Visitor visitor) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (ptrdiff_t next = 0; (next = dwarf_ranges(&die, next, &base, &low, &high)) > 0;) visitor(low, high);
}

bool UnitReader::touches(Dwarf_Die& die) const {
  bool touched = false;
  for_each_range(die, [&](uint64_t low, uint64_t high) { touched |= !within(queried_, low, high).empty(); });
  return touched;
}

uint32_t UnitReader::interned_file(const char* path) {
  if (path == nullptr || std::string_view(path) == "???") return kNoFile;  // libdw's name for "no file"
  const auto [at, added] = files_.try_emplace(path, 0);
  // For folders that are relative to the compiler's working directory, libdw does not always provide that
  // directory.
  if (added) at->second = table_.file(path[0] == '/' ? path : (folder_ / path).string());
  return at->second;
}

uint32_t UnitReader::call_file(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_formudata(dwarf_attr(&die, DW_AT_call_file, &attribute), &index) != 0) return kNoFile;
  return call_files_ == nullptr ? kNoFile
                                : interned_file(dwarf_filesrc(call_files_, index, nullptr, nullptr));
}

// Returns the DIE at the end of a chain of references.
Dwarf_Die follow(Dwarf_Die die, unsigned reference) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  while (dwarf_attr(&die, reference, &attribute) != nullptr &&
         dwarf_formref_die(&attribute, &target) != nullptr && target.addr != die.addr) {
    die = target;
  }
  return die;
}

std::string name_of(Dwarf_Die& origin, QualifiedNames& names) {
  Dwarf_Attribute attribute;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* const name = dwarf_formstring(dwarf_attr_integrate(&origin, kind, &attribute));
    // Rust's second mangling includes every crate's hash; the scopes in the debug information are more
    // readable.
    if (name != nullptr && !std::string_view(name).starts_with("_R")) return name;
  }
  return names.name(follow(origin, DW_AT_specification));
}

uint32_t UnitReader::function_of(Dwarf_Die& die, bool inlined) {
  Dwarf_Die origin = follow(die, DW_AT_abstract_origin);  // shared by all instances of a function
  const auto [at, added] = functions_.try_emplace(origin.addr, 0);
  if (added) {
    int line = 0;
    dwarf_decl_line(&origin, &line);
    at->second = table_.defined_function(name_of(origin, names_), interned_file(dwarf_decl_file(&origin)),
                                         static_cast<uint32_t>(line));
  }
  if (!inlined) {
    Dwarf_Addr start = 0;
    Dwarf_Addr base = 0;
    Dwarf_Addr end = 0;
    if (dwarf_entrypc(&die, &start) == 0 || dwarf_ranges(&die, 0, &base, &start, &end) > 0) {
      table_.starts_at(at->second, start + bias_);
    }
  }
  return at->second;
}

void UnitReader::enter(Dwarf_Die& die, uint32_t parent, bool inlined, bool everything) {
  Scope scope{inlined ? parent : kNoScope, function_of(die, inlined), kNoFile, 0};
  if (inlined) {
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &attribute), &line);
    scope.call_file = call_file(die);
    scope.call_line = static_cast<uint32_t>(line);
  }
  const auto id = static_cast<uint32_t>(scopes_.size());
  scopes_.push_back(scope);
  // Scopes are entered from outside in, so the innermost one is the last to claim an address.
  for_each_range(die, [&](uint64_t low, uint64_t high) {
    for (Queried& query : within(queried_, low, high)) query.scope = id;
  });
  visit_children(die, id, everything);
}

void UnitReader::visit(Dwarf_Die& die, uint32_t scope, bool everything) {
  switch (dwarf_tag(&die)) {
    case DW_TAG_subprogram:
      if (touches(die)) {
        enter(die, kNoScope, false, everything);
      } else if (everything) {
        visit_children(die, kNoScope, everything);
      }
      break;
    case DW_TAG_inlined_subroutine:
      if (scope != kNoScope && touches(die)) enter(die, scope, true, everything);
      break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt: {
      // A block without addresses of its own may still contain inlined code.
      const bool placed = dwarf_hasattr(&die, DW_AT_ranges) != 0 || dwarf_hasattr(&die, DW_AT_low_pc) != 0;
      if (everything || !placed || touches(die)) visit_children(die, scope, everything);
      break;
    }
    case DW_TAG_namespace:
    case DW_TAG_module:
      visit_children(die, kNoScope, everything);
      break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
      if (everything) visit_children(die, kNoScope, everything);
      break;
    default:
      break;
  }
}

void UnitReader::visit_children(Dwarf_Die die, uint32_t scope, bool everything) {
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    visit(child, scope, everything);
  } while (dwarf_siblingof(&child, &child) == 0);
}

AttributedFrame UnitReader::place_of(uint64_t address) {
  const auto row = [&](size_t i) { return dwarf_onesrcline(lines_, i); };
  const auto row_address = [&](size_t i) {
    Dwarf_Addr at = 0;
    dwarf_lineaddr(row(i), &at);
    return at;
  };
  size_t low = 0;
  size_t high = line_count_;  // rows before low are at or below the address, rows from high on above it
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (row_address(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  // Line 0 marks instructions that belong to no particular line; the previous line is the best approximation.
  for (size_t i = low; i-- > 0;) {
    bool end = false;
    int line = 0;
    if (dwarf_lineendsequence(row(i), &end) != 0 || end) break;
    if (dwarf_lineno(row(i), &line) != 0) break;
    if (line != 0) {
      return {0, interned_file(dwarf_linesrc(row(i), nullptr, nullptr)), static_cast<uint32_t>(line), false};
    }
  }
  return {0, kNoFile, 0, false};
}

std::vector<AttributedFrame> UnitReader::chain_of(uint32_t scope, AttributedFrame place) const {
  std::vector<AttributedFrame> chain;
  for (uint32_t at = scope; at != kNoScope; at = scopes_[at].parent) {
    const Scope& here = scopes_[at];
    chain.push_back({here.function, place.file, place.line, here.parent != kNoScope});
    place.file = here.call_file;
    place.line = here.call_line;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void UnitReader::attribute(std::span<Queried> queried, SourceChains& out) {
  queried_ = queried;
  visit_children(contents_, kNoScope, false);

  // Some compilers put functions inside types or other functions, where the search takes much longer.
  std::vector<Queried> unclaimed;
  std::ranges::copy_if(queried, std::back_inserter(unclaimed),
                       [](const Queried& query) { return query.scope == kNoScope; });
  if (!unclaimed.empty()) {
    queried_ = unclaimed;
    visit_children(contents_, kNoScope, true);
  }

  const auto emit = [&](const Queried& query) {
    const AttributedFrame place = place_of(query.address);
    out.lines[query.index] = place;
    out.chains[query.index] = chain_of(query.scope, place);
  };
  for (const Queried& query : queried) emit(query);
  for (const Queried& query : unclaimed) emit(query);
}

struct UnitQuery {
  Dwarf_Off unit;
  Queried query;
};

// Returns the addresses that lie in units, grouped by unit and ascending.
std::vector<UnitQuery> by_unit(const UnitIndex& index, std::span<const uint64_t> addresses, uint64_t bias) {
  std::vector<UnitQuery> queries;
  for (uint32_t i = 0; i < addresses.size(); ++i) {
    const uint64_t address = addresses[i] - bias;
    const Dwarf_Off unit = index.find(address);
    if (unit != UnitIndex::kNoUnit) queries.push_back({unit, {address, i, kNoScope}});
  }
  std::stable_sort(queries.begin(), queries.end(),
                   [](const UnitQuery& a, const UnitQuery& b) { return a.unit < b.unit; });
  return queries;
}

}  // namespace

SourceChains attribute_by_dwarf(ModuleFile& file, std::span<const uint64_t> addresses, FunctionTable& table) {
  uint64_t bias = 0;
  Dwarf* dwarf = file.dwarf(bias);
  if (dwarf == nullptr) return {};
  SourceChains out;
  out.chains.resize(addresses.size());
  out.lines.resize(addresses.size());

  const UnitIndex index(dwarf, lowest_code_address(file.elf()) - bias);
  const std::vector<UnitQuery> queries = by_unit(index, addresses, bias);
  QualifiedNames names;
  size_t held_rows = 0;
  std::vector<Queried> of_unit;
  for (size_t i = 0; i < queries.size();) {
    const Dwarf_Off offset = queries[i].unit;
    of_unit.clear();
    for (; i < queries.size() && queries[i].unit == offset; ++i) of_unit.push_back(queries[i].query);

    if (held_rows > kMaxHeldLineRows) {
      names.clear();
      if (!file.reopen() || (dwarf = file.dwarf(bias)) == nullptr) return out;
      held_rows = 0;
    }
    Dwarf_Die unit;
    Dwarf_Die split{};
    if (dwarf_offdie(dwarf, offset, &unit) == nullptr) continue;
    uint8_t type = 0;
    dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr);
    const bool has_split = type == DW_UT_skeleton && split.addr != nullptr;
    UnitReader reader(unit, has_split ? split : unit, bias, table, names);
    reader.attribute(of_unit, out);
    held_rows += reader.line_rows();
  }
  return out;
}

}  // namespace prof

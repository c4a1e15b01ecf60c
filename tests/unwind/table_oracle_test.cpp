// Every row of the tables of real libraries, compared with elfutils' reading of the same call frame
// information.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "hpcrun/unwind/modules.h"
#include "hpcrun/unwind/registry.h"

namespace {

using namespace hpcrun;

std::map<uint16_t, std::string> module_paths;

void remember_module(const ModuleInfo& info) noexcept {
  module_paths[info.id] = info.path;
}

std::string signed_text(int64_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

std::string text_of(RegisterLocation location) {
  switch (location.base()) {
    case RegisterLocation::Cfa:
      return "[cfa" + signed_text(location.offset()) + "]";
    case RegisterLocation::Rbp:
      return "[r6" + signed_text(location.offset()) + "]";
    case RegisterLocation::Rsp:
      return "[r7" + signed_text(location.offset()) + "]";
    case RegisterLocation::Special:
      break;
  }
  return location.is_unchanged() ? "same" : "undefined";
}

std::string text_of(const Rule& rule) {
  std::string cfa;
  switch (rule.kind) {
    case RuleKind::None:
      return "none";
    case RuleKind::EndOfStack:
      return "end";
    case RuleKind::Interpret:
      return "interpret";
    case RuleKind::Plt:
      cfa = "plt" + std::to_string(rule.cfa_offset);
      break;
    case RuleKind::Deref:
      cfa = "*r" + std::to_string(rule.cfa_register) + signed_text(rule.cfa_offset);
      break;
    default:
      cfa = "r" + std::to_string(rule.cfa_register) + signed_text(rule.cfa_offset);
  }
  return cfa + " ra=" + text_of(rule.return_address) + " rbp=" + text_of(rule.rbp) +
         " rbx=" + text_of(rule.rbx) + " r12=" + text_of(rule.r12) + " r13=" + text_of(rule.r13) +
         " r14=" + text_of(rule.r14) + " r15=" + text_of(rule.r15) +
         ((rule.flags & kRuleSignalFrame) ? " signal" : "");
}

std::string text_of_breg(const Dwarf_Op& op) {
  if (op.atom == DW_OP_bregx)
    return "r" + std::to_string(op.number) + signed_text(static_cast<int64_t>(op.number2));
  if (op.atom < DW_OP_breg0 || op.atom > DW_OP_breg31) return "?";
  return "r" + std::to_string(op.atom - DW_OP_breg0) + signed_text(static_cast<int64_t>(op.number));
}

std::string oracle_register(Dwarf_Frame* frame, int reg) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) return "error";
  // elfutils' table of registers that the ABI preserves lacks rbx: without a rule it appears as undefined.
  if (count == 0) return ops == nullptr || reg == kRbx ? "same" : "undefined";
  if (ops[0].atom == DW_OP_call_frame_cfa && count == 1) return "[cfa+0]";
  if (ops[0].atom == DW_OP_call_frame_cfa && count == 2 && ops[1].atom == DW_OP_plus_uconst) {
    return "[cfa" + signed_text(static_cast<int64_t>(ops[1].number)) + "]";
  }
  // An expression starts with the CFA on its stack; these ignore it.
  const size_t last = count - 1;
  if (count <= 2 && ops[last].atom >= DW_OP_breg0 && ops[last].atom <= DW_OP_breg31) {
    return "[" + text_of_breg(ops[last]) + "]";
  }
  return "?";
}

// Returns "none" if elfutils has no information, and "?" for what our rules cannot express.
std::string oracle_text(Dwarf_CFI* cfi, uint64_t address) {
  Dwarf_Frame* frame = nullptr;
  if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) return "none";
  bool is_signal = false;
  const int ra = dwarf_frame_info(frame, nullptr, nullptr, &is_signal);
  std::string text;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  const std::string return_address = oracle_register(frame, ra);
  if (return_address == "undefined") {
    text = "end";
  } else if (dwarf_frame_cfa(frame, &ops, &count) != 0) {
    text = "?";
  } else {
    if (count == 1) {
      text = text_of_breg(ops[0]);
    } else if (count == 2 && ops[1].atom == DW_OP_deref) {
      text = "*" + text_of_breg(ops[0]);
    } else if (count == 9 && ops[0].atom == DW_OP_breg7 && ops[6].atom == DW_OP_lit3) {
      text = "plt" + std::to_string(ops[4].atom - DW_OP_lit0);
    } else {
      text = "?";
    }
    text += " ra=" + return_address;
    const std::pair<const char*, int> registers[] = {{"rbp", 6},  {"rbx", 3},  {"r12", 12},
                                                     {"r13", 13}, {"r14", 14}, {"r15", 15}};
    for (const auto& [name, number] : registers)
      text += std::string(" ") + name + "=" + oracle_register(frame, number);
    if (is_signal) text += " signal";
    // setcontext restores rsp from a location other than the CFA.
    const std::string rsp = oracle_register(frame, kRsp);
    if (rsp[0] == '[' && text[0] != '*') text = "?";
    if (text.find('?') != std::string::npos) text = "?";
  }
  free(frame);
  return text;
}

// Returns the rule that a walk would use, from a table or from an index.
Rule rule_at(const UnwindTable& table, uint64_t address) {
  if (!table.index) return lookup(table, address);
  static Cie cie;
  static Fde fde;
  static CfiMachine machine;
  return table.index->find(address, {cie, fde, machine}) ? make_rule(machine.row(), cie.signal_frame)
                                                         : Rule{};
}

struct Comparison {
  size_t equal = 0;
  size_t inexpressible = 0;  // on both sides
  size_t different = 0;
  std::string first_difference;

  void add(uint64_t address, const std::string& ours, const std::string& theirs) {
    if (ours == "interpret" && theirs == "?") {
      ++inexpressible;
    } else if (ours == theirs) {
      ++equal;
    } else if (different++ == 0) {
      char hex[32];
      std::snprintf(hex, sizeof hex, "%#lx", static_cast<unsigned long>(address));
      first_difference = std::string(hex) + "\n  ours   " + ours + "\n  theirs " + theirs;
    }
  }
};

void compare_module(const char* part_of_path, bool few = false) {
  set_module_sink(remember_module);
  refresh_modules();
  const SnapshotReader reader;
  const LoadedModule* module = nullptr;
  for (uint32_t i = 0; i < reader.snapshot().count; ++i) {
    const LoadedModule& candidate = reader.snapshot().modules()[i];
    if (module_paths[candidate.id].find(part_of_path) != std::string::npos) module = &candidate;
  }
  REQUIRE(module != nullptr);
  REQUIRE(module->table != nullptr);
  const UnwindTable& table = *module->table;

  // The vDSO has no file: it is read from memory.
  const bool in_memory = module_paths[module->id] == "[vdso]";
  const int fd = in_memory ? -1 : open(module_paths[module->id].c_str(), O_RDONLY | O_CLOEXEC);
  elf_version(EV_CURRENT);
  Elf* elf = in_memory ? elf_memory(reinterpret_cast<char*>(module->start), module->end - module->start)
                       : elf_begin(fd, ELF_C_READ, nullptr);
  REQUIRE(elf != nullptr);
  Dwarf_CFI* cfi = dwarf_getcfi_elf(elf);
  REQUIRE(cfi != nullptr);

  Comparison rows;
  for (uint32_t i = 0; i < table.row_count; ++i) {
    const uint64_t address = table.first + table.rows[i].offset;
    rows.add(address, text_of(table.rules[table.rows[i].rule]), oracle_text(cfi, address));
  }
  // The other direction: arbitrary addresses in the text, found through lookup().
  Comparison anywhere;
  std::mt19937_64 random(1);
  const uint64_t text_bytes = module->text_end - module->text_start;
  constexpr int kAddresses = 20000;
  for (int i = 0; i < kAddresses; ++i) {
    const uint64_t address = module->text_start - module->load_bias + random() % text_bytes;
    const std::string ours = text_of(rule_at(table, address));
    std::string theirs = oracle_text(cfi, address);
    // Up to fifteen bytes of padding keep the rule of the previous function.
    for (uint64_t back = 1; theirs == "none" && ours != "none" && back <= kPaddingBytes; ++back) {
      theirs = oracle_text(cfi, address - back);
    }
    anywhere.add(address, ours, theirs);
  }
  dwarf_cfi_end(cfi);
  elf_end(elf);
  if (fd >= 0) close(fd);

  std::printf(
      "%s: %u rows, %u rules, %u kept programs; rows: %zu equal, %zu interpreted; anywhere: %zu equal\n",
      module_paths[module->id].c_str(), table.row_count, table.rule_count, table.program_count, rows.equal,
      rows.inexpressible, anywhere.equal);
  INFO(rows.first_difference << anywhere.first_difference);
  CHECK(rows.different == 0);
  CHECK(anywhere.different == 0);
  CHECK(anywhere.equal + anywhere.inexpressible == kAddresses);
  CHECK((table.index || !few));
  if (table.index) {
    CHECK(table.row_count == 0);
    CHECK((few || table.index->functions() >= CfiIndex::kMinFunctions));
    return;
  }
  CHECK(rows.equal > 0);
  // Tables contain practically everything that compilers and the C library write.
  CHECK(rows.inexpressible * 1000 <= rows.equal);
}

}  // namespace

TEST_CASE("the table of libc says what elfutils reads") {
  compare_module("libc.so");
}
TEST_CASE("the table of libstdc++ says what elfutils reads") {
  compare_module("libstdc++.so");
}
TEST_CASE("the table of libm says what elfutils reads") {
  compare_module("libm.so");
}
TEST_CASE("the index of a large library says what elfutils reads") {
  void* const large = dlopen("libLLVM-14.so.1", RTLD_LAZY);
  if (!large) {
    WARN("skipped: libLLVM-14.so.1 is not installed (Debian: libllvm14)");
    return;
  }
  compare_module("libLLVM");
}
TEST_CASE("where walks are few, the index of a small library says what elfutils reads") {
  expect_few_walks(true);
  REQUIRE(dlopen("libresolv.so.2", RTLD_LAZY));
  compare_module("libresolv", true);
  expect_few_walks(false);
}
TEST_CASE("the table of the loader says what elfutils reads") {
  compare_module("ld-linux");
}
TEST_CASE("the table of this program says what elfutils reads") {
  compare_module("test_unwind");
}
TEST_CASE("the table of the vDSO says what elfutils reads") {
  compare_module("[vdso]");
}

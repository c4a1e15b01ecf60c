// The interpreter of call frame information on instructions built by hand, and rules made from its rows.
#include <catch2/catch.hpp>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/compile.h"
#include "hpcrun/unwind/rule.h"

namespace {

using namespace hpcrun;
using Code = std::vector<uint8_t>;

constexpr uint64_t kSectionAddress = 0x9000;
constexpr uint64_t kFunction = 0x1000;

// A section of .eh_frame or .debug_frame, built record by record.
struct Section {
  std::vector<uint8_t> bytes;
  size_t cie_at = 0;
  bool debug_frame = false;

  template <typename T>
  void put(T value) {
    uint8_t raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
  }
  void put(const Code& code) { bytes.insert(bytes.end(), code.begin(), code.end()); }
  size_t open() {
    put<uint32_t>(0);
    return bytes.size();
  }
  void close(size_t start) {
    const auto length = static_cast<uint32_t>(bytes.size() - start);
    std::memcpy(&bytes[start - 4], &length, sizeof length);
  }

  // The usual start: CFA = rsp + 8, return address at CFA - 8.
  void cie(const char* augmentation = "zR", const Code& data = {0x1b},
           Code instructions = {0x0c, 7, 8, 0x90, 1}) {
    cie_at = bytes.size();
    const size_t start = open();
    put<uint32_t>(debug_frame ? 0xffffffffu : 0u);
    put<uint8_t>(1);
    bytes.insert(bytes.end(), augmentation, augmentation + std::strlen(augmentation) + 1);
    put(Code{1, 0x78, 16});  // code alignment 1, data alignment -8, return address in register 16
    if (augmentation[0] == 'z') {
      put<uint8_t>(static_cast<uint8_t>(data.size()));
      put(data);
    }
    put(instructions);
    close(start);
  }
  void fde(uint64_t function, uint32_t size, const Code& instructions) {
    const size_t start = open();
    if (debug_frame) {
      put<uint32_t>(static_cast<uint32_t>(cie_at));
      put<uint64_t>(function);
      put<uint64_t>(size);
    } else {
      put<uint32_t>(static_cast<uint32_t>(start - cie_at));
      put<int32_t>(static_cast<int32_t>(function - (kSectionAddress + bytes.size())));
      put<uint32_t>(size);
      put<uint8_t>(0);
    }
    put(instructions);
    close(start);
  }
  CfiSection view() const { return {{bytes.data(), bytes.size()}, kSectionAddress, 0, debug_frame}; }
};

struct RowAt {
  bool found = false;
  CfiRow row;
  Rule rule;
};

// Returns the row at kFunction + offset of one function of 100 bytes.
RowAt row_at(const Code& instructions, uint64_t offset, const char* augmentation = "zR") {
  static Section section;  // rows point into it
  section = Section{};
  section.cie(augmentation);
  const uint64_t fde_at = section.bytes.size();
  section.fde(kFunction, 100, instructions);
  Cie cie;
  Fde fde;
  CfiMachine machine;
  REQUIRE(parse_cie(split_record(section.view(), 0).body, cie));
  REQUIRE(parse_fde(section.view(), split_record(section.view(), fde_at).body, cie, fde));
  REQUIRE(fde.start == kFunction);
  REQUIRE(fde.end == kFunction + 100);
  RowAt result;
  result.found = machine.start(cie, fde, false) && machine.run_to(kFunction + offset);
  result.row = machine.row();
  result.rule = make_rule(result.row, cie.signal_frame);
  return result;
}

}  // namespace

TEST_CASE("a function without instructions has the CIE's row throughout") {
  for (const uint64_t offset : {0, 1, 99}) {
    const RowAt at = row_at({}, offset);
    REQUIRE(at.found);
    CHECK(at.rule.kind == RuleKind::RegisterOffset);
    CHECK(at.rule.cfa_register == kRsp);
    CHECK(at.rule.cfa_offset == 8);
    CHECK(at.rule.return_address == RegisterLocation::at(RegisterLocation::Cfa, -8));
    CHECK(at.rule.rbp.is_unchanged());
    CHECK((at.rule.flags & kRuleSimple) != 0);
  }
  CHECK_FALSE(row_at({}, 100).found);
}

TEST_CASE("advance_loc in its four widths changes the row at exactly its address") {
  const auto advance = GENERATE(Code{0x40 | 5}, Code{0x02, 5}, Code{0x03, 5, 0}, Code{0x04, 5, 0, 0, 0});
  Code code = advance;
  code.insert(code.end(), {0x0e, 16});
  CHECK(row_at(code, 4).rule.cfa_offset == 8);
  CHECK(row_at(code, 5).rule.cfa_offset == 16);
  CHECK(row_at(code, 99).rule.cfa_offset == 16);
}

TEST_CASE("a push of rbp and a frame on it") {
  const Code code = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0xc6, 0x0c, 7, 8};
  CHECK(row_at(code, 0).rule.rbp.is_unchanged());
  CHECK(row_at(code, 1).rule.cfa_offset == 16);
  CHECK(row_at(code, 1).rule.rbp == RegisterLocation::at(RegisterLocation::Cfa, -16));
  CHECK(row_at(code, 4).rule.cfa_register == kRbp);
  CHECK(row_at(code, 4).rule.cfa_offset == 16);
  CHECK(row_at(code, 20).rule.cfa_register == kRsp);
  CHECK(row_at(code, 20).rule.rbp.is_unchanged());
}

TEST_CASE("offset, offset_extended, its signed form and GNU's negative one say where a register is") {
  CHECK(row_at({0x83, 3}, 0).rule.rbx == RegisterLocation::at(RegisterLocation::Cfa, -24));
  CHECK(row_at({0x05, 12, 4}, 0).rule.r12 == RegisterLocation::at(RegisterLocation::Cfa, -32));
  CHECK(row_at({0x11, 13, 0x7e}, 0).rule.r13 == RegisterLocation::at(RegisterLocation::Cfa, 16));
  CHECK(row_at({0x2f, 14, 1}, 0).rule.r14 == RegisterLocation::at(RegisterLocation::Cfa, 8));
}

TEST_CASE("def_cfa and def_cfa_offset have signed, factored forms") {
  CHECK(row_at({0x12, 3, 0x7c}, 0).rule.cfa_register == kRbx);
  CHECK(row_at({0x12, 3, 0x7c}, 0).rule.cfa_offset == 32);
  CHECK(row_at({0x13, 0x7b}, 0).rule.cfa_offset == 40);
}

TEST_CASE("a CFA on a register other than rsp and rbp is a rule, but not a simple one") {
  const RowAt at = row_at({0x0c, 10, 0}, 0);
  CHECK(at.rule.kind == RuleKind::RegisterOffset);
  CHECK(at.rule.cfa_register == 10);
  CHECK((at.rule.flags & kRuleSimple) == 0);
}

TEST_CASE("restore takes a register back to the CIE's rule, same_value and undefined to theirs") {
  CHECK(row_at({0x86, 2, 0xc6}, 0).rule.rbp.is_unchanged());
  CHECK(row_at({0x86, 2, 0x06, 6}, 0).rule.rbp.is_unchanged());
  CHECK(row_at({0x86, 2, 0x08, 6}, 0).rule.rbp.is_unchanged());
  CHECK(row_at({0x07, 6}, 0).rule.rbp == RegisterLocation::undefined());
}

TEST_CASE("remember_state and restore_state nest and bring back the CFA") {
  const Code code = {0x0e, 16, 0x0a, 0x0e, 24, 0x0a, 0x41, 0x0e, 32, 0x41, 0x0b, 0x41, 0x0b};
  CHECK(row_at(code, 0).rule.cfa_offset == 24);
  CHECK(row_at(code, 1).rule.cfa_offset == 32);
  CHECK(row_at(code, 2).rule.cfa_offset == 24);
  CHECK(row_at(code, 3).rule.cfa_offset == 16);
}

TEST_CASE("instructions that make no sense end the row, and the frame has no information") {
  CHECK_FALSE(row_at({0x0b}, 0).found);                          // restore without remember
  CHECK_FALSE(row_at(Code(20, 0x0a), 0).found);                  // remember without end
  CHECK_FALSE(row_at({0x3f}, 0).found);                          // no such instruction
  CHECK_FALSE(row_at({0x0e}, 0).found);                          // a missing operand
  CHECK_FALSE(row_at({0x0f, 50, 0x77}, 0).found);                // an expression longer than the record
  CHECK_FALSE(row_at({0x0e, 0x80, 0x80, 0x80, 0x80}, 0).found);  // a number without end
}

TEST_CASE("GNU_args_size, nop and registers we do not keep change nothing") {
  CHECK(row_at({0x2e, 16, 0x00, 0x05, 40, 9, 0x90 | 16, 1}, 0).rule == row_at({}, 0).rule);
}

TEST_CASE("an undefined return address is the end of the stack") {
  CHECK(row_at({0x07, 16}, 0).rule.kind == RuleKind::EndOfStack);
}

TEST_CASE("realigned stacks: the CFA is loaded from below rbp, registers are at rbp") {
  // DW_CFA_def_cfa_expression breg6 -8, deref; DW_CFA_expression r12: breg6 -24; rbp: breg6 0
  const RowAt at = row_at({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 12, 2, 0x76, 0x68, 0x10, 6, 2, 0x76, 0}, 0);
  CHECK(at.rule.kind == RuleKind::Deref);
  CHECK(at.rule.cfa_register == kRbp);
  CHECK(at.rule.cfa_offset == -8);
  CHECK(at.rule.r12 == RegisterLocation::at(RegisterLocation::Rbp, -24));
  CHECK(at.rule.rbp == RegisterLocation::at(RegisterLocation::Rbp, 0));
}

TEST_CASE("the PLT's expression is a rule with its threshold") {
  const RowAt at = row_at({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 0);
  CHECK(at.rule.kind == RuleKind::Plt);
  CHECK(at.rule.cfa_offset == 11);
}

TEST_CASE("what a rule cannot hold is left to interpretation") {
  CHECK(row_at({0x0f, 4, 0x77, 8, 0x23, 8}, 0).rule.kind == RuleKind::Interpret);  // another CFA expression
  CHECK(row_at({0x16, 6, 2, 0x77, 8}, 0).rule.kind == RuleKind::Interpret);        // val_expression
  CHECK(row_at({0x14, 6, 2}, 0).rule.kind == RuleKind::Interpret);                 // val_offset
  CHECK(row_at({0x09, 6, 3}, 0).rule.kind == RuleKind::Interpret);                 // register in a register
  CHECK(row_at({0x05, 6, 0x80, 0x80, 0x04}, 0).rule.kind ==
        RuleKind::Interpret);  // farther than a RegisterLocation reaches
}

TEST_CASE("the kernel's signal frame is recognised from its call frame information") {
  // As glibc writes it: CFA = *(rsp + 160), rip at rsp + 168, rsp at rsp + 160, rbp at rsp + 120.
  const Code code = {0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 16, 3, 0x77, 0xa8, 0x01,
                     0x10, 7, 3,    0x77, 0xa0, 0x01, 0x10, 6,  3, 0x77, 0xf8, 0x00};
  const RowAt at = row_at(code, 0, "zRS");
  CHECK(at.rule.kind == RuleKind::Deref);
  CHECK(at.rule.return_address == RegisterLocation::at(RegisterLocation::Rsp, 168));
  CHECK(at.rule.rbp == RegisterLocation::at(RegisterLocation::Rsp, 120));
  CHECK((at.rule.flags & kRuleSignalFrame) != 0);
  CHECK((at.rule.flags & kRuleKernelFrame) != 0);
  CHECK(kernel_frame_rule().cfa_offset == at.rule.cfa_offset);
  CHECK(kernel_frame_rule().rbp == at.rule.rbp);
}

TEST_CASE("CIEs of versions and augmentations that are not understood are refused") {
  Section section;
  section.cie("zX", {0});
  Cie cie;
  CHECK_FALSE(parse_cie(split_record(section.view(), 0).body, cie));
  Section versioned;
  versioned.cie();
  versioned.bytes[8] = 2;
  CHECK_FALSE(parse_cie(split_record(versioned.view(), 0).body, cie));
}

TEST_CASE("a table has a row where the rule changes and nowhere else") {
  Section section;
  section.cie();
  section.fde(kFunction, 0x30, {0x41, 0x0e, 16, 0x44, 0x0e, 32, 0x60, 0x0e, 8});  // ends as it began
  section.fde(kFunction + 0x40, 0x20, {});                // 16 bytes later: no padding
  section.fde(kFunction + 0x68, 0x18, {0x44, 0x0e, 16});  // 8 bytes later: padding
  CfiSources sources;
  sources.eh_frame = section.view();
  UnwindTable table;
  REQUIRE(compile_table(sources, table) == CompileStatus::Ok);
  const auto offset_at = [&](uint64_t at) {
    const Rule& rule = lookup(table, kFunction + at);
    return rule.kind == RuleKind::None ? -1 : rule.cfa_offset;
  };
  CHECK(offset_at(0) == 8);
  CHECK(offset_at(1) == 16);
  CHECK(offset_at(4) == 16);
  CHECK(offset_at(5) == 32);
  CHECK(offset_at(0x25) == 8);
  CHECK(offset_at(0x2f) == 8);
  CHECK(offset_at(0x30) == -1);
  CHECK(offset_at(0x3f) == -1);
  CHECK(offset_at(0x40) == 8);
  CHECK(offset_at(0x62) == 8);
  CHECK(offset_at(0x6c) == 16);
  CHECK(offset_at(0x7f) == 16);
  CHECK(offset_at(0x80) == -1);
  CHECK(lookup(table, kFunction - 1).kind == RuleKind::None);
  CHECK(table.row_count == 7);
  CHECK(table.rule_count == 4);
}

TEST_CASE(".debug_frame fills the gaps of .eh_frame and never overrides it") {
  Section eh;
  eh.cie();
  eh.fde(kFunction + 0x40, 0x40, {0x0e, 64});
  Section debug;
  debug.debug_frame = true;
  debug.cie("", {});
  debug.fde(kFunction, 0x40, {0x0e, 24});         // only here
  debug.fde(kFunction + 0x40, 0x40, {0x0e, 32});  // the same function in both
  debug.fde(kFunction + 0x70, 0x30, {0x0e, 40});  // overlaps the previous one
  debug.fde(0, 0x30, {0x0e, 48});                 // the linker dropped this function
  CfiSources sources;
  sources.eh_frame = eh.view();
  sources.debug_frame = debug.view();
  UnwindTable table;
  REQUIRE(compile_table(sources, table) == CompileStatus::Ok);
  CHECK(lookup(table, kFunction).cfa_offset == 24);
  CHECK(lookup(table, kFunction + 0x3f).cfa_offset == 24);
  CHECK(lookup(table, kFunction + 0x40).cfa_offset == 64);
  CHECK(lookup(table, kFunction + 0x7f).cfa_offset == 64);
  CHECK(lookup(table, kFunction + 0x80).cfa_offset == 40);
  CHECK(lookup(table, kFunction + 0x9f).cfa_offset == 40);
  CHECK(lookup(table, 0x10).kind == RuleKind::None);
}

TEST_CASE("a section cut at any byte compiles to a part of its table, or to nothing") {
  Section whole;
  whole.cie();
  for (uint64_t i = 0; i < 4; ++i)
    whole.fde(kFunction + i * 0x40, 0x40, {0x41, 0x0e, 16, 0x86, 2, 0x48, 0x0e, 8});
  for (size_t size = 0; size < whole.bytes.size(); ++size) {
    // In memory of its own, so that sanitizers catch a read past the end.
    const std::vector<uint8_t> cut(whole.bytes.begin(), whole.bytes.begin() + static_cast<long>(size));
    CfiSources sources;
    sources.eh_frame = {{cut.data(), cut.size()}, kSectionAddress, 0, false};
    UnwindTable table;
    if (compile_table(sources, table) != CompileStatus::Ok) continue;
    CHECK(lookup(table, kFunction + 1).cfa_offset == 16);
  }
  SUCCEED();
}

TEST_CASE("a function far from the first one is refused by name") {
  Section section;
  section.debug_frame = true;
  section.cie("", {});
  section.fde(kFunction, 0x40, {});
  section.fde(kFunction + (uint64_t{1} << 33), 0x40, {});
  CfiSources sources;
  sources.debug_frame = section.view();
  UnwindTable table;
  CHECK(compile_table(sources, table) == CompileStatus::TooLarge);
  CHECK(compile_table(CfiSources{}, table) == CompileStatus::NothingToCompile);
}

TEST_CASE("places keep offsets of words to 64 KiB either way") {
  for (const int64_t offset : {-65536L, -8L, 0L, 8L, 65528L}) {
    REQUIRE(RegisterLocation::fits(offset));
    CHECK(RegisterLocation::at(RegisterLocation::Rbp, offset).offset() == offset);
    CHECK(RegisterLocation::at(RegisterLocation::Rbp, offset).base() == RegisterLocation::Rbp);
  }
  CHECK_FALSE(RegisterLocation::fits(4));
  CHECK_FALSE(RegisterLocation::fits(65536));
  CHECK_FALSE(RegisterLocation::fits(-65544));
}

// Instructions are shown as objdump prints them.

#include "analysis/disassembly/instruction_text.h"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "analysis/disassembly/machine_code.h"
#include "tests/analysis/attribution/elf_probe.h"

namespace {

using namespace prof;

struct Line {
  uint64_t address = 0;
  std::string bytes;
  std::string text;
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string all;
  std::array<char, 4096> block;
  while (const size_t count = std::fread(block.data(), 1, block.size(), pipe.get()))
    all.append(block.data(), count);
  return all;
}

// Parses " 1139: 48 89 e5 mov %rsp,%rbp"; an instruction may continue in a second line of bytes.
std::vector<Line> by_objdump(const std::string& file, CodeRange range, Syntax syntax) {
  std::istringstream lines(output_of(fmt::format(
      "objdump -d -z --insn-width=16 -M {} --start-address={:#x} --stop-address={:#x} '{}' 2>/dev/null",
      syntax == Syntax::Att ? "att" : "intel", range.begin, range.end, file)));
  std::vector<Line> result;
  const std::regex row("^\\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\\s*\t(.*)$");
  std::smatch parts;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, parts, row))
      result.push_back({std::stoull(parts[1], nullptr, 16), parts[2], parts[3]});
  return result;
}

std::string format_code_bytes(const std::vector<uint8_t>& code, const DecodedInstruction& at,
                              uint64_t begin) {
  std::string words;
  for (size_t i = 0; i < at.length; ++i) words += fmt::format("{:02x} ", code[at.address - begin + i]);
  return words;
}

// Returns the registers and numbers of an instruction, which both write alike in spite of different styles.
std::multiset<std::string> parts_of(std::string text) {
  text = text.substr(0, text.find_first_of("<#"));
  const size_t operands = text.find_first_of(" \t");
  std::multiset<std::string> parts;
  if (operands == std::string::npos) return parts;
  text = text.substr(operands);
  const std::regex part("%?[a-z][a-z0-9]+|-?0x[0-9a-f]+|\\b[0-9a-f]+\\b");
  for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at) {
    std::string word = at->str();
    if (word.starts_with('%')) word.erase(0, 1);
    const bool is_register = std::regex_match(
        word, std::regex("[re]?[abcd]x|[re]?[sd]i|[re]?[sb]p|r[0-9]+[dwb]?|[xy]mm[0-9]+|[abcds]il?|[abcd]l"));
    if (is_register && word != "rip") parts.insert(word);
  }
  return parts;
}

// Returns "callq" or "call", "retq" or "ret": both forms are in use.
std::string mnemonic_of(const std::string& text) {
  return text.substr(0, text.find_first_of(" \t"));
}

bool same_mnemonic(const std::string& one, const std::string& other) {
  const auto& [shorter, longer] = one.size() < other.size() ? std::tie(one, other) : std::tie(other, one);
  if (shorter == longer) return true;
  return longer.size() == shorter.size() + 1 && longer.starts_with(shorter) &&
         std::string("bwlq").find(longer.back()) != std::string::npos;
}

}  // namespace

TEST_CASE("Instructions are those that objdump prints") {
  if (output_of("objdump --version 2>/dev/null").empty()) {
    WARN("skipped: objdump is not here");
    return;
  }
  const AttributionOptions options;
  size_t compared = 0, other_names = 0;
  for (const std::string file : {CODE_PIE, CODE_NO_PIE, FIXTURE_MODULE}) {
    const MachineCode code({file, ""}, options);
    REQUIRE(code.failure().empty());
    for (const Extent& text : section_extents(file, ".text")) {
      const std::vector<uint8_t> bytes = code.bytes({text.start, text.end});
      for (const Syntax syntax : {Syntax::Att, Syntax::Intel}) {
        const std::vector<Line> expected = by_objdump(file, {text.start, text.end}, syntax);
        const std::vector<DecodedInstruction> decoded = decode_instructions(bytes, text.start, syntax);
        REQUIRE(expected.size() > 20);
        REQUIRE(decoded.size() == expected.size());
        for (size_t i = 0; i < decoded.size(); ++i) {
          INFO(file << " " << std::hex << decoded[i].address << ": " << decoded[i].text << " | "
                    << expected[i].text);
          CHECK(decoded[i].address == expected[i].address);
          CHECK(format_code_bytes(bytes, decoded[i], text.start) == expected[i].bytes);
          // Padding has several names.
          if (expected[i].text.find("nop") != std::string::npos ||
              expected[i].text.find("xchg") != std::string::npos)
            continue;
          ++compared;
          if (!same_mnemonic(mnemonic_of(decoded[i].text), mnemonic_of(expected[i].text))) {
            ++other_names;
            UNSCOPED_INFO(decoded[i].text << " | " << expected[i].text);
          }
          CHECK(parts_of(decoded[i].text) == parts_of(expected[i].text));
        }
      }
    }
  }
  CHECK(compared > 200);
  CHECK(other_names == 0);
}

TEST_CASE("Bytes that are no instruction are stepped over") {
  const std::vector<uint8_t> code{0x06, 0x90, 0x48};
  const auto decoded = decode_instructions(code, 0x1000, Syntax::Att);
  REQUIRE(decoded.size() == 3);
  CHECK(decoded[0].text == "(bad)");
  CHECK(decoded[1].address == 0x1001);
  CHECK(decoded[1].text == "nop");
  CHECK(decoded[2].text == "(bad)");  // is truncated
}

TEST_CASE("Jumps and calls have targets, with names where those are known") {
  const std::vector<uint8_t> code{0xeb, 0xfe, 0xe8, 0x10, 0x00, 0x00, 0x00,
                                  0x48, 0x8d, 0x05, 0x01, 0x00, 0x00, 0x00};
  const auto decoded = decode_instructions(code, 0x1000, Syntax::Intel, [](uint64_t address) {
    return address == 0x1017 ? std::string("callee") : std::string();
  });
  REQUIRE(decoded.size() == 3);
  CHECK(decoded[0].text == "jmp 0x1000");
  CHECK(decoded[0].target == 0x1000);
  CHECK_FALSE(decoded[0].is_call);
  CHECK(decoded[1].text == "call 0x1017 <callee>");
  CHECK(decoded[1].target == 0x1017);
  CHECK(decoded[1].is_call);
  CHECK(decoded[2].text == "lea rax, [0x100f]");
  CHECK_FALSE(decoded[2].target);
}

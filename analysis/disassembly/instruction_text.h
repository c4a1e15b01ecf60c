#pragma once
// Decodes x86-64 code to text, with Zydis.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prof {

// The syntax of GNU's tools and perf, or that of the processors' manuals.
enum class Syntax : uint8_t { Att, Intel };

struct DecodedInstruction {
  uint64_t address = 0;
  uint8_t length = 0;
  std::string text;                     // "mov %rsp, %rbp"; "(bad)" for a byte that begins no instruction
  std::optional<uint64_t> target = {};  // of a jump or call with a fixed target
  bool is_call = false;
};

// Returns "sum+0x12" for an address in an instruction; empty if it is unknown.
using NameOfAddress = std::function<std::string(uint64_t address)>;

// Decodes all of `code`, which lies at `address`. Skips bytes that are not an instruction one at a time.
std::vector<DecodedInstruction> decode_instructions(std::span<const uint8_t> code, uint64_t address,
                                                    Syntax syntax, const NameOfAddress& name_of = {});

}  // namespace prof

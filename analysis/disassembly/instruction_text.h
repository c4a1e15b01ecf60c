#pragma once
// Bytes of x86-64 code as instructions in words, by Zydis.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prof {

// As GNU's tools and perf write them, or as the manuals of the processors do.
enum class Syntax : uint8_t { Att, Intel };

struct DecodedInstruction {
  uint64_t address = 0;
  uint8_t length = 0;
  std::string text;                     // "mov %rsp, %rbp"; "(bad)" for a byte that begins none
  std::optional<uint64_t> target = {};  // of a jump or call that has a fixed one
  bool is_call = false;
};

// "sum+0x12" of an address that an instruction names; empty where nothing is known there.
using NameOfAddress = std::function<std::string(uint64_t address)>;

// All of `code`, which lies at `address`. Bytes that are no instruction are stepped over one by one.
std::vector<DecodedInstruction> decode_instructions(std::span<const uint8_t> code, uint64_t address,
                                                    Syntax syntax, const NameOfAddress& name_of = {});

}  // namespace prof

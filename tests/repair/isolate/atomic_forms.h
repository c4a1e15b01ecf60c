#pragma once
// Generates every form of instruction that may have a LOCK prefix, and exchanges with memory, in every
// addressing form.

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/repair/isolate/made_module.h"

namespace hpcrun::test {

enum Register : uint8_t { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi, kR8, kR9, kR12 = 12, kR13 };

// An operand's address: a register plus a distance, or relative to rip, or to the fs segment.
struct Address {
  enum Kind : uint8_t { Based, OnStack, InModule, ThreadLocal } kind = Based;
  Register base = kRdi;
  bool has_index = false;  // rsi * 4
  uint8_t distance_bytes = 0;
  int32_t distance = 0;
};

struct Operation {
  Code opcode;
  bool has_register = false;  // else `digit` is in its place
  uint8_t digit = 0;
  uint8_t constant_bytes = 0;
  uint8_t bytes = 4;  // of the operand
  bool is_locked = true;
  bool counts_bits = false;  // in a register, counted from the operand's address on
  bool is_pair = false;      // cmpxchg8b and 16b
};

inline std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (const uint8_t bytes : Code{1, 2, 4, 8}) {
    const uint8_t wide = bytes > 1;
    const auto constant_bytes = static_cast<uint8_t>(bytes > 4 ? 4 : bytes);
    const auto with_register = [&](Code code, bool is_locked = true, bool counts_bits = false) {
      all.push_back({std::move(code), true, 0, 0, bytes, is_locked, counts_bits});
    };
    for (uint8_t sum = 0; sum < 7; ++sum) {  // add, or, adc, sbb, and, sub, xor
      with_register({static_cast<uint8_t>(sum << 3 | wide)});
      all.push_back({{static_cast<uint8_t>(0x80 | wide)}, false, sum, constant_bytes, bytes});
      if (wide) all.push_back({{0x83}, false, sum, 1, bytes});
    }
    for (const uint8_t digit : Code{0, 1})  // inc, dec
      all.push_back({{static_cast<uint8_t>(0xfe | wide)}, false, digit, 0, bytes});
    for (const uint8_t digit : Code{2, 3})  // not, neg
      all.push_back({{static_cast<uint8_t>(0xf6 | wide)}, false, digit, 0, bytes});
    with_register({static_cast<uint8_t>(0x86 | wide)});
    with_register({static_cast<uint8_t>(0x86 | wide)}, false);
    with_register({0x0f, static_cast<uint8_t>(0xc0 | wide)});
    with_register({0x0f, static_cast<uint8_t>(0xb0 | wide)});
    if (!wide) continue;
    for (const uint8_t code : Code{0xab, 0xb3, 0xbb})
      with_register({0x0f, code}, true, true);  // bts, btr, btc
    for (const uint8_t digit : Code{5, 6, 7}) all.push_back({{0x0f, 0xba}, false, digit, 1, bytes});
  }
  for (const uint8_t bytes : Code{8, 16}) {
    Operation pair{{0x0f, 0xc7}, false, 1, 0, bytes};
    pair.is_pair = true;
    all.push_back(pair);
  }
  return all;
}

// `with` is the register operand, if there is one, and `at` the address of the instruction.
inline Code assemble(const Operation& operation, const Address& address, Register with, uint64_t at,
                     uint64_t data, uint64_t constant) {
  Code code;
  if (address.kind == Address::ThreadLocal) code.push_back(0x64);
  if (operation.is_locked) code.push_back(0xf0);
  if (operation.bytes == 2) code.push_back(0x66);
  const uint8_t reg = operation.has_register ? static_cast<uint8_t>(with) : operation.digit;
  const bool is_wide = operation.is_pair ? operation.bytes == 16 : operation.bytes == 8;
  const auto extension = static_cast<uint8_t>(is_wide << 3 | (operation.has_register && reg >= 8) << 2 |
                                              (address.kind == Address::Based && address.base >= 8));
  // The low bytes of rsp and similar need a REX prefix without other bits.
  const bool is_new_byte = operation.bytes == 1 && operation.has_register && reg >= kRsp;
  if (extension || is_new_byte) code.push_back(0x40 | extension);
  code.insert(code.end(), operation.opcode.begin(), operation.opcode.end());
  const auto middle = static_cast<uint8_t>((reg & 7) << 3);
  int32_t distance = address.distance;
  size_t relative_at = 0;
  switch (address.kind) {
    case Address::Based: {
      const auto mode = static_cast<uint8_t>(address.distance_bytes == 0   ? 0
                                             : address.distance_bytes == 1 ? 0x40
                                                                           : 0x80);
      const bool needs_sib = address.has_index || (address.base & 7) == kRsp;
      code.push_back(mode | middle | (needs_sib ? 4 : address.base & 7));
      if (needs_sib) code.push_back((address.has_index ? 0x80 | kRsi << 3 : 0x20) | (address.base & 7));
      break;
    }
    case Address::OnStack:
      code.insert(code.end(), {static_cast<uint8_t>(0x40 | middle | 4), 0x24});
      break;
    case Address::InModule:
      code.push_back(middle | 5);
      relative_at = code.size();
      break;
    case Address::ThreadLocal:
      code.insert(code.end(), {static_cast<uint8_t>(middle | 4), 0x25});
      break;
  }
  const auto distance_bytes =
      static_cast<size_t>(address.kind == Address::InModule || address.kind == Address::ThreadLocal ? 4
                          : address.kind == Address::OnStack                                        ? 1
                                                             : address.distance_bytes);
  for (size_t i = 0; i < distance_bytes; ++i) code.push_back(static_cast<uint8_t>(distance >> 8 * i));
  for (size_t i = 0; i < operation.constant_bytes; ++i)
    code.push_back(static_cast<uint8_t>(constant >> 8 * i));
  if (relative_at) {
    distance = static_cast<int32_t>(
        static_cast<int64_t>(data + static_cast<uint64_t>(address.distance) - (at + code.size())));
    memcpy(&code[relative_at], &distance, sizeof distance);
  }
  return code;
}

}  // namespace hpcrun::test

#pragma once
// Defines the numbers of DWARF and of .eh_frame on x86-64. Constants only.

#include <cstdint>

namespace hpcrun {

// DWARF numbers of the x86-64 registers (System V ABI, figure 3.36).
enum DwarfRegister : uint8_t {
  kRax = 0,
  kRdx = 1,
  kRcx = 2,
  kRbx = 3,
  kRsi = 4,
  kRdi = 5,
  kRbp = 6,
  kRsp = 7,
  kR8 = 8,
  kR12 = 12,
  kR13 = 13,
  kR14 = 14,
  kR15 = 15,
  kReturnAddress = 16,
  kRegisterCount = 17,
};

// Pointer encodings of .eh_frame (Linux Standard Base, 10.5).
enum PointerEncoding : uint8_t {
  kPointerAbsolute = 0x00,
  kPointerUleb = 0x01,
  kPointerU2 = 0x02,
  kPointerU4 = 0x03,
  kPointerU8 = 0x04,
  kPointerSleb = 0x09,
  kPointerS2 = 0x0a,
  kPointerS4 = 0x0b,
  kPointerS8 = 0x0c,
  kPointerFormatMask = 0x0f,
  kPointerPcRelative = 0x10,
  kPointerDataRelative = 0x30,
  kPointerBaseMask = 0x70,
  kPointerIndirect = 0x80,
  kPointerOmitted = 0xff,
};

}  // namespace hpcrun

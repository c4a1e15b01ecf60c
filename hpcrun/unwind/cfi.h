#pragma once
// Parses call frame information in the form of .eh_frame and .debug_frame: the records, and the machine that
// runs their instructions. Input is bytes in our own memory or a section that cannot be unmapped; pointers
// found in them are never dereferenced. The table compiler uses it outside handlers. The walk uses it one
// record at a time, for modules without a table. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/dwarf.h"

namespace hpcrun {

// The bytes of a section, or of a copied piece of one. Addresses are those of the ELF file.
struct CfiSection {
  Bytes bytes;
  uint64_t address = 0;  // ELF address of bytes.data[0]
  uint64_t load_bias =
      0;  // subtracted from absolute pointers, which the loader relocated (0: read from a file)
  bool debug_frame = false;
};

struct Cie {
  Bytes instructions;
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t return_register = kReturnAddress;
  uint8_t pointer_encoding = kPointerAbsolute;
  bool augmented = false;     // 'z': FDEs carry augmentation data
  bool signal_frame = false;  // 'S': the pc of the frame is not a return address
};

struct Fde {
  uint64_t start = 0;  // ELF addresses, [start, end)
  uint64_t end = 0;
  Bytes instructions;
};

enum class CfiRecordKind : uint8_t { Cie, Fde, End, Malformed };

// A length-prefixed record, split but not parsed.
struct CfiRecord {
  CfiRecordKind kind = CfiRecordKind::Malformed;
  Bytes body;              // after the length and the CIE id or pointer
  uint64_t next = 0;       // offset of the record after it in the section
  int64_t cie_offset = 0;  // FDE: offset of its CIE in the section; may lie outside a copied piece
};

CfiRecord split_record(const CfiSection& section, uint64_t offset) noexcept;

// Parse a record. Return false if it is malformed, or has a version or augmentation that is not supported.
bool parse_cie(const CfiSection& section, Bytes body, Cie& cie) noexcept;
bool parse_fde(const CfiSection& section, Bytes body, const Cie& cie, Fde& fde) noexcept;

// Reads a pointer in one of the .eh_frame encodings, as an ELF address. Returns false for encodings that need
// a load.
bool read_pointer(const CfiSection& section, Cursor& cursor, uint8_t encoding, uint64_t data_base,
                  uint64_t& value) noexcept;

enum class RegisterRuleKind : uint8_t {
  Unchanged,
  Undefined,
  AtCfa,            // *(CFA + offset)
  CfaPlus,          // CFA + offset
  InRegister,       // the value of register `offset`
  AtExpression,     // *expression
  ValueExpression,  // expression
};

struct RegisterRule {
  RegisterRuleKind kind = RegisterRuleKind::Unchanged;
  uint32_t expression_bytes = 0;
  union {
    int64_t offset = 0;
    const uint8_t* expression;
  };
};

// The unwind rules in force at one address.
struct CfiRow {
  bool cfa_is_expression = false;
  uint8_t cfa_register = kRsp;
  int64_t cfa_offset = 0;
  Bytes cfa_expression;
  RegisterRule registers[kRegisterCount];
};

// Linkers pad functions to 16 bytes. A gap this short is treated as part of the function before it.
constexpr uint64_t kPaddingBytes = 15;

constexpr unsigned kMaxRememberedRows = 8;  // compilers use 1; deeper nesting is reported as malformed

// Executes call frame instructions row by row. About 3 KiB: lives in an arena if the stack is small.
class CfiMachine {
 public:
  // Runs the CIE's instructions and moves to the FDE's start. Reuses the CIE's row if `same_cie`.
  bool start(const Cie& cie, const Fde& fde, bool same_cie) noexcept;

  // Runs up to the next change of address: row() is then in force over [from(), to()). Returns false at the
  // end of the FDE, or on malformed instructions (ok() is then false).
  bool next() noexcept;

  // Runs to the row at an address inside the FDE. Returns false if the address is outside, or if instructions
  // are malformed.
  bool run_to(uint64_t address) noexcept;

  uint64_t from() const noexcept { return from_; }
  uint64_t to() const noexcept { return to_; }
  const CfiRow& row() const noexcept { return row_; }
  bool ok() const noexcept { return ok_; }

 private:
  bool execute_until_advance(Cursor& cursor) noexcept;
  void define(uint64_t reg, RegisterRuleKind kind, int64_t offset) noexcept;
  void restore(uint64_t reg) noexcept;

  const Cie* cie_ = nullptr;
  uint64_t end_ = 0;
  uint64_t from_ = 0;
  uint64_t to_ = 0;
  uint64_t location_ = 0;
  Cursor cursor_{Bytes{}};
  bool ok_ = false;
  unsigned remembered_ = 0;
  CfiRow row_;
  CfiRow initial_;
  CfiRow stack_[kMaxRememberedRows];
};

}  // namespace hpcrun

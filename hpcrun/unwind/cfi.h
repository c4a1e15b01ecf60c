#pragma once
// Call frame information as .eh_frame and .debug_frame hold it: records, and the machine that runs their
// instructions. Works on bytes in memory of ours or on a section that cannot go away; never loads through a
// pointer it found in them. Used by the table compiler outside handlers and, one record at a time, by the
// walk for modules without a table. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/dwarf.h"

namespace hpcrun {

// Where the bytes of a section (or of a copied piece of one) come from. Addresses are the ELF file's.
struct CfiSection {
  Bytes bytes;
  uint64_t address = 0;  // of bytes.data[0]
  uint64_t load_bias =
      0;  // to subtract from absolute pointers: the loader relocated them (0: read from a file)
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

// One length-prefixed record, split but not parsed.
struct CfiRecord {
  CfiRecordKind kind = CfiRecordKind::Malformed;
  Bytes body;              // after the length and the CIE id or pointer
  uint64_t next = 0;       // offset of the record after it in the section
  int64_t cie_offset = 0;  // FDE: offset of its CIE in the section; may lie outside a copied piece
};

CfiRecord split_record(const CfiSection& section, uint64_t offset) noexcept;

// False when the record is malformed or of a version or augmentation that is not understood.
bool parse_cie(const CfiSection& section, Bytes body, Cie& cie) noexcept;
bool parse_fde(const CfiSection& section, Bytes body, const Cie& cie, Fde& fde) noexcept;

// A pointer in one of the .eh_frame encodings, as an ELF address. False for encodings that need a load.
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

// Linkers pad functions to 16 bytes. So short a gap is not told from the function before it.
constexpr uint64_t kPaddingBytes = 15;

constexpr unsigned kMaxRememberedRows = 8;  // compilers use 1; deeper nesting is reported as malformed

// State of a run through instructions. About 3 KiB: lives in an arena where the stack is small.
class CfiMachine {
 public:
  // Runs the CIE's instructions and stands at the FDE's start. The CIE's row is kept while `same_cie`.
  bool start(const Cie& cie, const Fde& fde, bool same_cie) noexcept;

  // Runs up to the next change of address: the row in force over [from(), to()) is then row(). Returns false
  // at the end of the FDE (nothing left) or on malformed instructions (ok() is false).
  bool next() noexcept;

  // The row at an address inside the FDE. False when the address is outside or instructions are malformed.
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

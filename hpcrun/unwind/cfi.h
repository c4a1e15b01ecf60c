#pragma once
// Runs the instructions of call frame information, whose records hpcrun/elf/frame_records.h reads. The table
// compiler uses it outside handlers. The walk uses it one record at a time, for modules without a table.
// Async-signal-safe.

#include <cstdint>

#include "hpcrun/elf/frame_records.h"

namespace hpcrun {

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
  [[nodiscard]] bool start(const Cie& cie, const Fde& fde, bool same_cie) noexcept;

  // Runs up to the next change of address: row() is then in force over [from(), to()). Returns false at the
  // end of the FDE, or on malformed instructions (ok() is then false).
  [[nodiscard]] bool next() noexcept;

  // Runs to the row at an address inside the FDE. Returns false if the address is outside, or if instructions
  // are malformed.
  [[nodiscard]] bool run_to(uint64_t address) noexcept;

  [[nodiscard]] uint64_t from() const noexcept { return from_; }
  uint64_t to() const noexcept { return to_; }
  [[nodiscard]] const CfiRow& row() const noexcept { return row_; }
  bool ok() const noexcept { return ok_; }

 private:
  [[nodiscard]] bool execute_until_advance(Cursor& cursor) noexcept;
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

#pragma once
// The machine code of a function in a load module's file on this machine, if that is the file that was
// measured. Not thread-safe.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/module_file.h"
#include "analysis/attribution/symbols.h"
#include "analysis/database/model.h"

namespace prof {

struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class MachineCode {
 public:
  // `options` must outlive it.
  MachineCode(const LoadModule& module, const AttributionOptions& options);

  // Returns why there is no code, in one line with what helps; empty if there is code.
  const std::string& failure() const { return failure_; }
  // Returns a remark on the code, in one line; usually empty.
  const std::string& note() const { return note_; }
  const ModuleIdentity& identity() const { return identity_; }

  // Returns the parts of the function at an offset, sorted by start. Uses the ranges in the debug
  // information; without it, the extent of its symbol; without that, the range from the start of its call
  // frame information to the start of the next. Empty if nothing is known there.
  std::vector<CodeRange> ranges_of_function(uint64_t offset) const;
  // Returns the bytes of a range, as far as the file has them: at most kMaxBytes.
  std::vector<uint8_t> bytes(CodeRange range) const;
  // Returns "sum+0x12"; empty if there is no symbol.
  std::string name_of(uint64_t offset) const;

  static constexpr uint64_t kMaxBytes = 4 << 20;  // larger than any function that compilers generate

 private:
  std::vector<CodeRange> stated_ranges(uint64_t offset) const;

  ModuleIdentity identity_;
  ModuleFile file_;
  std::string failure_, note_;
  std::optional<NamedRanges> symbols_, stubs_;
};

}  // namespace prof

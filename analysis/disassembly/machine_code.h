#pragma once
// The machine code of a function in a load module's file on this machine, where that is the file that was
// measured. Not for use by several threads at once.

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

  // Why there is no code to show, in one line with what helps; empty: there is.
  const std::string& failure() const { return failure_; }
  // What is to know of it, in one line; mostly empty.
  const std::string& note() const { return note_; }
  const ModuleIdentity& identity() const { return identity_; }

  // The parts of the function that an offset lies in, by their begin: those that the debug information
  // states, else that between its symbol's ends, else from where its call frame information begins to where
  // the next one does. Empty: nothing is known there.
  std::vector<CodeRange> ranges_of_function(uint64_t offset) const;
  // Of a range, as far as the file has them: at most kMostBytes.
  std::vector<uint8_t> bytes(CodeRange range) const;
  // "sum+0x12"; empty where no symbol is.
  std::string name_of(uint64_t offset) const;

  static constexpr uint64_t kMostBytes = 4 << 20;  // no function that a compiler makes is larger

 private:
  std::vector<CodeRange> stated_ranges(uint64_t offset) const;

  ModuleIdentity identity_;
  ModuleFile file_;
  std::string failure_, note_;
  std::optional<NamedRanges> symbols_, stubs_;
};

}  // namespace prof

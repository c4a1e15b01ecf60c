#pragma once
// Runs a case of engine_program in the Valgrind tool of `prof exact`, and finds accesses in its dumps by the
// functions that they are in.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "prof/exact/dump.h"

namespace prof::test {

struct Wasted {
  uint64_t count = 0;
  uint64_t bytes = 0;
  bool operator==(const Wasted&) const = default;
};

class EngineRun {
 public:
  // Throws if the program's exit status is not 7.
  EngineRun(const std::string& name, const std::string& option);

  const std::vector<ExactDump>& dumps() const { return dumps_; }
  // Returns the only dump; throws if there are more.
  const ExactDump& dump() const;

  // Sums up the pairs of a kind between two functions. An empty name: any function.
  Wasted wasted(const ExactDump& dump, PePairKind kind, const std::string& first,
                const std::string& second) const;
  // Returns the executions of accesses of a kind in a function.
  uint64_t executions(const ExactDump& dump, PeAccessKind kind, const std::string& function) const;
  // Returns the program's functions that called the second function of a pair, the nearest first.
  std::vector<std::string> callers_of_second(const ExactDump& dump, const std::string& first,
                                             const std::string& second) const;
  std::string function_at(uint64_t address) const;
  std::vector<std::string> callers(const ExactDump& dump, uint32_t context) const;

 private:
  struct Symbol {
    uint64_t end;
    std::string name;
  };
  void read_symbols();

  std::map<uint64_t, Symbol> symbols_;
  std::vector<ExactDump> dumps_;
};

}  // namespace prof::test

#pragma once
// Finds out whether a stopped thread is inside the allocator of a program whose executable contains one. That
// allocator's code lies among the program's own, which a busy thread never leaves. Therefore its functions
// are found by name. A thread is inside one if its instruction is, or if its stack holds the return address
// of a call to one. The return address also finds functions that were reached by a jump from there.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace prof {

struct CodeRange {
  uint64_t low = 0;
  uint64_t high = 0;
  bool contains(uint64_t address) const { return address >= low && address < high; }
};

class AllocatorCalls {
 public:
  // True if a function of that name, as in symbol tables, allocates or releases memory.
  static bool is_allocator(std::string_view name);

  // Add addresses in the process: the allocator's functions, and all code that may call them.
  void add_function(CodeRange function) { functions_.push_back(function); }
  void add_code(CodeRange code) { code_.push_back(code); }

  // Returns true if a stopped thread of the process is in one of the functions, by its instruction pointer
  // and the words of its stack.
  bool is_within(int pid, uint64_t instruction, std::span<const uint64_t> stack) const;

 private:
  bool is_function(uint64_t address) const;
  bool calls_function(int pid, uint64_t return_address) const;
  bool leads_to_function(int pid, uint64_t target) const;

  std::vector<CodeRange> functions_;
  std::vector<CodeRange> code_;
};

}  // namespace prof

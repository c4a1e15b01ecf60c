#pragma once
// Holds the state of one thread's walks, in its arena: the cache of rules, the frames, the memory being read.
// Part of the unwinder; async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "hpcrun/unwind/code_cache.h"
#include "hpcrun/unwind/code_memory.h"
#include "hpcrun/unwind/expression.h"
#include "hpcrun/unwind/live_module.h"
#include "hpcrun/unwind/registry.h"
#include "hpcrun/unwind/return_path.h"
#include "hpcrun/unwind/stack_memory.h"
#include "hpcrun/unwind/unwinder.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

enum class StepKind : uint8_t {
  Continue,
  Ended,           // the outermost frame
  NeedsRegisters,  // the rule uses a register that this walk does not track
  Failed,
};

struct Step {
  StepKind kind = StepKind::Continue;
  StackReason reason = StackReason::EndOfStack;  // for Ended and Failed

  [[nodiscard]] static constexpr Step failed(StackReason reason) noexcept {
    return {StepKind::Failed, reason};
  }
};

// The method of the least certain step of a walk.
enum class Guess : uint8_t {
  None,
  FramePointer,  // or the instructions of an epilogue
  Search,  // a word of the frame that leads to the end of the stack, or that follows a call to this function
  Unproven,  // a caller may have been skipped
};

// Determines whether the call before a return address called the current function.
enum class CallEvidence : uint8_t {
  None,  // a call through a pointer
  For,
  Against,
};

// The frame whose return address is searched for, and the progress of that search.
struct FrameSearch {
  Registers registers;
  uint64_t first = 0;
  uint64_t next = 0;  // the word to check next; 0: no search is under way
  uint32_t depth = 0;
  bool exact = false;
  uint8_t tries = 0;
  bool may_skip = false;  // a word that was skipped may be the caller's return address
  CallEvidence wanted = CallEvidence::For;
};

// The location of the return address of a frame without unwind tables, and its certainty.
struct FoundCaller {
  uint64_t return_at = 0;
  Guess how = Guess::None;
};

struct Unwinder::State {
  StackBounds bounds;
  Registers registers;  // of the current frame
  Registers caller;
  bool exact = true;  // the pc is the next instruction, not a return address
  Guess guess = Guess::None;
  FrameSearch search;
  bool all_registers = false;
  uint32_t depth = 0;
  uint64_t last_return = 0;  // the last frame's pc if it is a return address, else 0
  unsigned downward_steps = 0;
  uint64_t assumed_return = 0;  // in generated code, a return address although no call precedes it
  const Snapshot* snapshot = nullptr;
  const LoadedModule* last_module = nullptr;
  uint64_t generation_tag = 0;
  uint32_t generation_epoch = 0;
  WalkRecord* record = nullptr;  // set if the walk is recorded
  uint32_t bp_word = 0;  // index of the recorded word that holds the frame pointer; kNoWord: none does
  StackMemory memory;
  CodeMemory code;
  LiveScratch live;  // also used by lookups
  CachedCode uncached;
  CodeCache cache;
  ReturnPaths return_paths;
  FrameKey frames[kMaxDepth];

  [[nodiscard]] uint64_t pc() const noexcept { return registers.value[kReturnAddress]; }
  uint64_t sp() const noexcept { return registers.value[kRsp]; }

  CfiIndex::Row row() noexcept { return {live.cie, live.fde, live.machine}; }

  // code.cpp: look up an address without the cache; resolve_at() stores the result in `uncached`.
  [[nodiscard]] Step resolve(uint64_t address, CachedCode*& found) noexcept;
  Step resolve_at(uint64_t address) noexcept;
  const LoadedModule* loaded_module(uint64_t address) noexcept;
  const LoadedModule* verified_module(uint64_t address) noexcept;
  Rule rule_of(const LoadedModule& module, uint64_t address) noexcept;
  [[nodiscard]] bool is_call_return(uint64_t address) noexcept;
  bool is_restorer(uint64_t address) noexcept;
  [[nodiscard]] bool came_from_exception_runtime() const noexcept;
  bool calls_exception_runtime(uint64_t return_address) noexcept;
  [[nodiscard]] bool is_plausible_return(uint64_t address) noexcept;

  // step.cpp: step from the current frame to its caller by a rule that is not simple.
  [[nodiscard]] Step step(CachedCode& known, uint64_t address) noexcept;
  Step step_by_rule(const Rule& rule) noexcept;
  [[nodiscard]] Step step_by_interpretation(const Rule& rule, uint64_t address) noexcept;
  Step finish_step(const Rule& rule) noexcept;

  // without_cfi.cpp
  [[nodiscard]] Step step_without_cfi(Rule& rule) noexcept;
  bool is_mostly_compiled() noexcept;
  [[nodiscard]] Step search_frame() noexcept;
  bool is_first_function() noexcept;
  [[nodiscard]] bool find_location(const StackLocation& location, uint64_t& address) noexcept;
  bool follow_to_return(const ReturnPath& path, uint64_t& return_at, uint64_t& bp) noexcept;
  [[nodiscard]] bool follow_epilogue(uint64_t sp, uint64_t bp, uint64_t& cfa, uint64_t& caller_bp,
                                     bool& stays) noexcept;
  uint64_t stub_target(uint64_t address) noexcept;
  [[nodiscard]] bool has_cfi(uint64_t address) noexcept;
  CallEvidence call_evidence(uint64_t return_address) noexcept;
  uint64_t call_target(uint64_t return_address) noexcept;
  [[nodiscard]] bool has_boundary_behind(uint64_t function) noexcept;
  bool calls_this_function(uint64_t return_address) noexcept;
  [[nodiscard]] bool keeps_frame_pointer(uint64_t return_address) noexcept;
  bool find_caller(uint64_t frame, FoundCaller& found) noexcept;
  uint64_t find_saved_frame_pointer(uint64_t return_at, uint64_t bp) noexcept;

  // walk_record.cpp
  static constexpr uint32_t kNoWord = UINT32_MAX;
  void begin_record(const ucontext_t& context, uint32_t generation) noexcept;
  uint32_t record_word(uint64_t at, uint64_t value, bool is_return) noexcept;
  void record_frame(const Rule& rule, uint64_t cfa) noexcept;
  [[nodiscard]] static bool is_realigned_frame(const Rule& rule) noexcept;
  void record_realigned_frame(const Rule& rule, uint64_t bp) noexcept;
  void record_use_of_bp() noexcept;
  void end_record(Step end) noexcept;

  // unwinder.cpp
  void start(const ucontext_t& context) noexcept;
  void open_window() noexcept;
  [[nodiscard]] bool is_too_long() const noexcept;
  bool moves_down_too_often(uint64_t cfa) noexcept;
  [[nodiscard]] bool has_left_moved_code() noexcept;
  StackReason guessed_reason() const noexcept;
  [[nodiscard]] StackReason end_reason(StackReason found) const noexcept;
  [[nodiscard]] bool is_base_of_made_stack() noexcept;
  Step judge_failure(Step failure) noexcept;
  template <bool kAll, bool kRecord>
  [[nodiscard]] Step run() noexcept;
  template <bool kAll, bool kRecord>
  [[nodiscard]] Step run_with_searches() noexcept;
};

}  // namespace hpcrun

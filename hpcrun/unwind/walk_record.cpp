// Records what a walk depends on. A frame pointer saved by a frame counts only if it located a frame further
// up. All others are data of the program, and change without changing the path.

#include "hpcrun/unwind/walk_record.h"

#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {

namespace {

// Marks a saved frame pointer that has located no frame (yet). Such words are not kept.
constexpr uint32_t kUnused = 2;

}  // namespace

void Unwinder::State::begin_record(const ucontext_t& context, uint32_t generation) noexcept {
  const greg_t* const from = context.uc_mcontext.gregs;
  record->origin = {static_cast<uint64_t>(from[REG_RIP]), static_cast<uint64_t>(from[REG_RSP]),
                    static_cast<uint64_t>(from[REG_RBP])};
  record->generation = generation;
  record->count = 0;
  record->is_complete = true;
  record->uses_bp = false;
  bp_word = kNoWord;
}

// Words outside the thread's own stack may be unmapped next time.
uint32_t Unwinder::State::record_word(uint64_t at, uint64_t value, bool is_return) noexcept {
  const uint64_t offset = at - record->origin.sp;
  if (record->count == WalkRecord::kMaxWords || offset > UINT32_MAX || !memory.in_window(at)) {
    record->is_complete = false;
    return kNoWord;
  }
  record->words[record->count] = {value, static_cast<uint32_t>(offset), is_return ? 1u : kUnused};
  return record->count++;
}

void Unwinder::State::record_use_of_bp() noexcept {
  if (bp_word == kNoWord)
    record->uses_bp = true;
  else
    record->words[bp_word].is_return = 0;
}

// Must be called after the loads, whose results are in the registers.
void Unwinder::State::record_frame(const Rule& rule, uint64_t cfa) noexcept {
  if (!record->is_complete) return;
  if (rule.cfa_register != kRsp) record_use_of_bp();
  record_word(cfa - 8, registers.value[kReturnAddress], true);
  if (!rule.rbp.is_unchanged())
    bp_word = record_word(cfa + static_cast<uint64_t>(rule.rbp.offset()), registers.value[kRbp], false);
}

// True for a function that has aligned its stack for vectors: the start of its frame is stored in a word
// below the frame pointer.
bool Unwinder::State::is_realigned_frame(const Rule& rule) noexcept {
  return rule.kind == RuleKind::Deref && rule.cfa_register == kRbp && rule.flags == 0 &&
         rule.return_address == RegisterLocation::at(RegisterLocation::Cfa, -8) &&
         (rule.rbp.base() == RegisterLocation::Rbp || rule.rbp.is_unchanged());
}

// `bp`: the frame's own. Must be called after the step, whose results are in the registers.
void Unwinder::State::record_realigned_frame(const Rule& rule, uint64_t bp) noexcept {
  if (!record->is_complete) return;
  record_use_of_bp();
  const uint32_t begin = record_word(bp + static_cast<uint64_t>(int64_t{rule.cfa_offset}), sp(), false);
  if (begin != kNoWord) record->words[begin].is_return = 0;
  record_word(sp() - 8, registers.value[kReturnAddress], true);
  if (!rule.rbp.is_unchanged())
    bp_word = record_word(bp + static_cast<uint64_t>(rule.rbp.offset()), registers.value[kRbp], false);
}

void Unwinder::State::end_record(Step end) noexcept {
  record->is_complete = record->is_complete && end.kind == StepKind::Ended && guess == Guess::None;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < record->count; ++i)
    if (record->words[i].is_return != kUnused) record->words[kept++] = record->words[i];
  record->count = kept;
}

}  // namespace hpcrun

// Notes what a walk depends on. Of the frame pointers that frames have saved, those count by which a frame
// was found further up: others are the program's data, and change without changing the path.

#include "hpcrun/unwind/walk_record.h"

#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {

namespace {

// What is not needed stays out: the mark of a frame pointer by which no frame was found (yet).
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

// Words outside of the thread's own stack may be gone the next time.
uint32_t Unwinder::State::record_word(uint64_t at, uint64_t value, bool is_return) noexcept {
  const uint64_t offset = at - record->origin.sp;
  if (record->count == WalkRecord::kMostWords || offset > UINT32_MAX || !memory.in_window(at)) {
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

// After the loads, whose results are in the registers.
void Unwinder::State::record_frame(const Rule& rule, uint64_t cfa) noexcept {
  if (!record->is_complete) return;
  if (rule.cfa_register != kRsp) record_use_of_bp();
  record_word(cfa - 8, registers.value[kReturnAddress], true);
  if (!rule.rbp.is_unchanged())
    bp_word = record_word(cfa + static_cast<uint64_t>(rule.rbp.offset()), registers.value[kRbp], false);
}

// Of a function that has aligned its stack for vectors: where its frame begins is in a word below the frame
// pointer.
bool Unwinder::State::is_realigned_frame(const Rule& rule) noexcept {
  return rule.kind == RuleKind::Deref && rule.cfa_register == kRbp && rule.flags == 0 &&
         rule.return_address == Place::at(Place::Cfa, -8) &&
         (rule.rbp.base() == Place::Rbp || rule.rbp.is_unchanged());
}

// `bp`: the frame's own. The step was made, and its results are in the registers.
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

#include "hpcrun/contention/loop_progress.h"

namespace hpcrun {
namespace {

constexpr uint8_t kStackPointer = 4;
// A larger change is that of an address or a random number, not of a counter.
constexpr int64_t kMaxChange = int64_t{1} << 40;

bool is_counter_sized(const Access& access) noexcept {
  return access.bytes == 4 || access.bytes == 8;
}

bool read_word(const MemoryReader& memory, uint64_t address, uint16_t bytes, uint64_t& value) noexcept {
  value = 0;
  return memory.read(memory.context, address, &value, bytes) == bytes;
}

int64_t difference(uint64_t from, uint64_t to, uint16_t bytes) noexcept {
  return bytes == 4 ? static_cast<int32_t>(static_cast<uint32_t>(to) - static_cast<uint32_t>(from))
                    : static_cast<int64_t>(to - from);
}

bool is_plausible(int64_t change) noexcept {
  return change != 0 && change < kMaxChange && change > -kMaxChange;
}

// Returns a number for a word of the frame that is the same whenever the function runs.
uint16_t number_of(uint64_t address, uint64_t stack_pointer) noexcept {
  return static_cast<uint16_t>(Progress::kStackWord + (address - stack_pointer) / 4 % 1024);
}

}  // namespace

uint64_t LoopProgress::before(uint64_t line, uint64_t pc, const MachineState& state) const noexcept {
  const uint64_t apart = pc > pc_ ? pc - pc_ : pc_ - pc;
  const bool is_same =
      line == line_ && apart < kMaxLoopBytes && state.general[kStackPointer] == state_.general[kStackPointer];
  return is_same ? now_ns_ : 0;
}

uint32_t LoopProgress::changes(const MachineState& state, const Access* accesses, uint32_t count,
                               const MemoryReader& memory, uint64_t cpu_ns, Progress* out) const noexcept {
  uint32_t found = 0;
  const auto add = [&](uint16_t value, int64_t change) noexcept {
    if (is_plausible(change)) out[found++] = {value, change, cpu_ns, false};
  };
  for (uint8_t r = 0; r < kGeneralRegisters; ++r) add(r, difference(state_.general[r], state.general[r], 8));
  for (uint32_t w = 0; w < words_; ++w) {
    for (const Access* access = accesses; access < accesses + count; ++access) {
      uint64_t value = 0;
      if (access->address != word_[w].address || access->bytes != word_[w].bytes) continue;
      if (read_word(memory, access->address, access->bytes, value))
        add(number_of(access->address, state.general[kStackPointer]),
            difference(word_[w].value, value, access->bytes));
      break;
    }
  }
  return found;
}

void LoopProgress::note(uint64_t line, uint64_t pc, const MachineState& state, const Access* accesses,
                        uint32_t count, const MemoryReader& memory, uint64_t now_ns) noexcept {
  now_ns_ = now_ns;
  line_ = line;
  pc_ = pc;
  state_ = state;
  words_ = 0;
  for (const Access* access = accesses; access < accesses + count && words_ < kMaxStackWords; ++access) {
    const bool is_known = [&]() noexcept {
      for (uint32_t w = 0; w < words_; ++w)
        if (word_[w].address == access->address) return true;
      return false;
    }();
    if (is_known || !is_counter_sized(*access)) continue;
    Word& word = word_[words_];
    if (!read_word(memory, access->address, access->bytes, word.value)) continue;
    word.address = access->address;
    word.bytes = access->bytes;
    ++words_;
  }
}

}  // namespace hpcrun

#include "repair/isolate/atomics/atomic_plan.h"

#include <algorithm>
#include <cstring>

#include "repair/isolate/memory/page_bits.h"

namespace hpcrun {

namespace {

constexpr uint8_t kJump = 0xe9;
constexpr uint8_t kNoOperation = 0x26;  // as a prefix: a segment without a base in 64-bit mode
constexpr uint8_t kMaxPrefixes = 3;
// The value for bytes that are free to choose and make little difference.
constexpr uint8_t kLowChoice = 0x40;

const char kNoMemory[] = "out of memory";

const uint8_t* code_at(uint64_t address) noexcept {
  return reinterpret_cast<const uint8_t*>(address);
}

bool place_code(uint64_t address, uint64_t end, PlacedCode& out) noexcept {
  out.code = code_at(address);
  out.address = address;
  return address < end &&
         decode(out.code, std::min<uint64_t>(end - address, kMaxInstructionBytes), address, out.decoded);
}

// Prefixes that may stand between a LOCK prefix and its instruction.
bool is_prefix(uint8_t byte) noexcept {
  return (byte & 0xf0) == 0x40 || (byte & 0xfe) == 0x64 || (byte & 0xfe) == 0x66 || (byte & 0xfe) == 0xf2;
}

// True if a LOCK prefix may precede the opcode: one byte, or the byte after 0f.
bool is_lockable(uint8_t code) noexcept {
  const bool computes = code < 0x38 && (code & 7) < 2;
  const bool with_constant = (code & 0xfc) == 0x80;
  return computes || with_constant || code == 0x0f || (code & 0xfe) == 0x86 || (code & 0xf6) == 0xf6;
}

// Most bytes that look like an exchange are the second bytes of a conditional jump (0f 86, 0f 87) within the
// function.
bool is_jump(const uint8_t* code, size_t at, size_t bytes) noexcept {
  constexpr size_t kBytes = 1 + kDistanceBytes;
  if (at == 0 || code[at - 1] != 0x0f || bytes - at < kBytes) return false;
  int32_t distance;
  memcpy(&distance, code + at + 1, sizeof distance);
  const int64_t target = static_cast<int64_t>(at + kBytes) + distance;
  return target >= 0 && target < static_cast<int64_t>(bytes);
}

// A quick check: a LOCK prefix, or one of the two opcodes of an exchange with memory. Most functions have
// neither and need not be decoded.
bool may_have_atomics(const uint8_t* code, size_t bytes) noexcept {
  constexpr uint8_t kLock = 0xf0, kExchange = 0x86, kOfRegisters = 0xc0;
  for (size_t i = 0; i + 1 < bytes; ++i) {
    if ((code[i] & 0xfe) == kExchange && code[i + 1] < kOfRegisters && !is_jump(code, i, bytes)) return true;
    if (code[i] != kLock) continue;
    size_t next = i + 1;
    while (next < bytes && is_prefix(code[next])) ++next;
    if (next < bytes && is_lockable(code[next])) return true;
  }
  return false;
}

bool has_atomics(const uint8_t* code, size_t bytes) noexcept {
  if (!may_have_atomics(code, bytes)) return false;
  for (size_t at = 0; at < bytes;) {
    bool is_locked = false;
    const uint8_t length = decode_length(code + at, std::min(bytes - at, kMaxInstructionBytes), is_locked);
    if (is_locked) return true;
    at += length ? length : 1;
  }
  return false;
}

// Returns the register of bts, btr and btc that counts bits from the operand's address on.
uint8_t bit_register(const uint8_t* code) noexcept {
  uint8_t extension = 0;
  for (;; ++code) {
    if ((*code & 0xf0) == 0x40)
      extension = static_cast<uint8_t>((*code & 4) << 1);
    else if (*code == 0x0f)
      break;
    else if (*code != 0xf0 && *code != 0x66 && *code != 0x64 && *code != 0xf2 && *code != 0xf3)
      return kNoRegister;
  }
  constexpr uint8_t kSet = 0xab, kReset = 0xb3, kComplement = 0xbb;
  if (code[1] != kSet && code[1] != kReset && code[1] != kComplement) return kNoRegister;
  return static_cast<uint8_t>((code[2] >> 3 & 7) | extension);
}

uint64_t add_signed(uint64_t to, uint32_t distance) noexcept {
  return to + static_cast<uint64_t>(int64_t{static_cast<int32_t>(distance)});
}

uint8_t most_prefixes(uint8_t length) noexcept {
  return length >= kJumpBytes ? 0 : std::min<uint8_t>(kMaxPrefixes, static_cast<uint8_t>(length - 1));
}

// Returns how many bytes of a jump's distance lie within the instruction: the least significant ones.
int own_bytes(const PlacedCode& instruction, uint8_t prefixes) noexcept {
  return std::min(instruction.decoded.length - prefixes - 1, static_cast<int>(kDistanceBytes));
}

// Returns where a jump there can lead. `behind`: the bytes after the instruction.
PlaceRange range_of_jump(const PlacedCode& instruction, uint8_t prefixes, const uint8_t* behind) noexcept {
  const int own = own_bytes(instruction, prefixes);
  const PlaceRange reach = reach_of(instruction);
  if (own == static_cast<int>(kDistanceBytes)) return reach;
  uint32_t distance = 0;
  for (int i = own; i < static_cast<int>(kDistanceBytes); ++i) distance |= uint32_t{behind[i - own]} << 8 * i;
  const uint64_t low = add_signed(instruction.address + prefixes + kJumpBytes, distance);
  if (low >= kAddressSpaceBytes) return {};  // below zero
  return reach.and_in({low, low + (uint64_t{1} << 8 * own) - 1});
}

}  // namespace

const char* AtomicPlanner::plan(const CodeFunctions& functions, uint64_t low, uint64_t high) noexcept {
  first_patch_ = plans_.patches.size();
  const char* refusal = functions.refusal();
  // Libraries without code have no functions.
  if (refusal && !has_atomics(code_at(low), high - low)) refusal = nullptr;
  for (uint32_t number = functions.size(); number-- > 0 && !refusal;) {
    const CodeFunction function = functions[number];
    if (function.low < low || function.high > high || function.low == function.high) continue;
    if (has_atomics(code_at(function.low), function.high - function.low)) refusal = plan_function(function);
  }
  own_sites_.release();
  branch_targets_.release();
  return refusal;
}

const char* AtomicPlanner::note_function(const CodeFunction& function) noexcept {
  own_sites_.cut(0);
  branch_targets_.cut(0);
  bool is_all_decoded = true;
  for (uint64_t at = function.low; at < function.high;) {
    PlacedCode instruction;
    if (!place_code(at, function.high, instruction)) {
      is_all_decoded = false;
      ++at;
      continue;
    }
    const Instruction& decoded = instruction.decoded;
    if (decoded.is_locked && !own_sites_.add(at)) return kNoMemory;
    if (decoded.target > function.low && decoded.target < function.high &&
        !branch_targets_.add(decoded.target))
      return kNoMemory;
    at += decoded.length;
  }
  if (!is_all_decoded && own_sites_.size()) return "a function with atomic instructions cannot be decoded";
  if (own_sites_.size() && branch_targets_.size())
    std::sort(&branch_targets_[0], &branch_targets_[0] + branch_targets_.size());
  return nullptr;
}

const char* AtomicPlanner::plan_function(const CodeFunction& function) noexcept {
  const char* refusal = note_function(function);
  for (size_t number = own_sites_.size(); number-- > 0 && !refusal;) {
    PlacedCode instruction;
    place_code(own_sites_[number], function.high, instruction);
    refusal = plan_site(instruction, function);
  }
  return refusal;
}

bool AtomicPlanner::is_entered_within(const PlacedCode& instruction) const noexcept {
  const uint64_t* const next =
      std::upper_bound(branch_targets_.begin(), branch_targets_.end(), instruction.address);
  return next != branch_targets_.end() && *next < instruction.address + instruction.decoded.length;
}

const char* AtomicPlanner::plan_site(const PlacedCode& instruction, const CodeFunction& function) noexcept {
  const Instruction& decoded = instruction.decoded;
  if (decoded.memory_count != 1 || decoded.memory[0].segment == Segment::Gs)
    return "the memory operand of an atomic instruction cannot be determined";
  if (is_entered_within(instruction)) return "the code jumps past a lock prefix";
  const size_t bytes = atomic_trampoline_bytes(decoded.length);
  uint8_t prefixes = 0;
  uint64_t at = place_punned(instruction, bytes, prefixes);
  if (!at) at = place_by_moving_next(instruction, bytes, function, prefixes);
  if (!at) return "no free memory is within reach of a jump from an atomic instruction";
  AtomicSite* const site = plans_.sites.add({});
  if (!site || !add_patch(instruction, prefixes, at)) return kNoMemory;
  site->address = instruction.address;
  site->trampoline = at;
  site->length = decoded.length;
  site->operand = decoded.memory[0];
  site->bit_register = bit_register(instruction.code);
  write_atomic_trampoline(*site, instruction, targets_);
  return nullptr;
}

uint8_t AtomicPlanner::final_byte(uint64_t address) const noexcept {
  // The latest plans are the nearest.
  for (size_t number = plans_.patches.size(); number-- > first_patch_;) {
    const CodePatch& patch = plans_.patches[number];
    if (address >= patch.address && address < patch.address + patch.bytes)
      return patch.after[address - patch.address];
    if (patch.address > address + kMaxInstructionBytes) break;
  }
  return *code_at(address);
}

void AtomicPlanner::final_bytes(uint64_t address, uint8_t (&bytes)[kDistanceBytes]) const noexcept {
  for (uint8_t& byte : bytes) byte = final_byte(address++);
}

uint64_t AtomicPlanner::place_punned(const PlacedCode& instruction, size_t bytes,
                                     uint8_t& prefixes) noexcept {
  const uint8_t length = instruction.decoded.length;
  const bool fits = length >= kJumpBytes;
  if (!fits && first_tactic_ == Tactic::NextMoved) return 0;
  uint8_t behind[kDistanceBytes] = {};
  if (!fits) final_bytes(instruction.address + length, behind);
  const uint8_t first = !fits && first_tactic_ == Tactic::Prefixed ? 1 : 0;
  for (const bool may_map : {false, true}) {
    for (prefixes = first; prefixes <= most_prefixes(length); ++prefixes) {
      const PlaceRange range = range_of_jump(instruction, prefixes, behind);
      if (const uint64_t at = places_.take(range, bytes, may_map)) return at;
    }
  }
  return 0;
}

uint64_t AtomicPlanner::place_by_moving_next(const PlacedCode& instruction, size_t bytes,
                                             const CodeFunction& function, uint8_t& prefixes) noexcept {
  const uint8_t length = instruction.decoded.length;
  PlacedCode next;
  if (!place_code(instruction.address + length, function.high, next) || next.decoded.is_locked ||
      !can_be_moved(next) || is_entered_within(next))
    return 0;
  const uint8_t next_length = next.decoded.length;
  // The bytes after the instruction if a jump replaces the next one, and the bytes after that.
  uint8_t behind[kMaxPrefixes + kJumpBytes + kDistanceBytes];
  uint8_t behind_next[kDistanceBytes];
  final_bytes(next.address + next_length, behind_next);
  for (uint8_t of_next = 0; of_next <= most_prefixes(next_length); ++of_next) {
    for (size_t i = 0; i < sizeof behind; ++i) behind[i] = final_byte(next.address + i);
    memset(behind, kNoOperation, of_next);
    behind[of_next] = kJump;
    uint8_t* const distance = behind + of_next + 1;
    const int own = own_bytes(next, of_next);
    for (prefixes = 0; prefixes <= most_prefixes(length); ++prefixes) {
      // The bytes of the next jump's distance that this jump's distance overlaps.
      const int seen = static_cast<int>(kDistanceBytes) - own_bytes(instruction, prefixes);
      const int common = std::clamp(seen - of_next - 1, 0, own);
      for (unsigned choice = 0; choice < (common ? 256u : 1u); ++choice) {
        for (int i = 0; i < common; ++i)
          distance[i] = static_cast<uint8_t>(i == common - 1 ? choice : kLowChoice);
        const PlaceRange range = range_of_jump(instruction, prefixes, behind);
        if (!places_.has(range, bytes)) continue;
        const uint64_t to = place_moved(next, of_next, distance, common, behind_next);
        if (!to) continue;
        const uint64_t at = places_.take(range, bytes, true);
        // A failure up to here wastes only a small place.
        if (!at) continue;
        write_moved(to, next);
        const MovedCode moved{next.address, to, next.decoded.length, static_cast<uint8_t>(moved_bytes(next))};
        if (!plans_.moved.add(moved) || !add_patch(next, of_next, to)) return 0;
        return at;
      }
    }
  }
  return 0;
}

// Takes a place for the copy of an instruction. The distance of the jump there begins with these bytes.
uint64_t AtomicPlanner::place_moved(const PlacedCode& instruction, uint8_t prefixes, const uint8_t* distance,
                                    int chosen, const uint8_t* behind) noexcept {
  const int own = own_bytes(instruction, prefixes);
  uint32_t fixed = 0;
  for (int i = 0; i < chosen; ++i) fixed |= uint32_t{distance[i]} << 8 * i;
  for (int i = own; i < static_cast<int>(kDistanceBytes); ++i) fixed |= uint32_t{behind[i - own]} << 8 * i;
  const PlaceRange reach = reach_of(instruction);
  const size_t bytes = moved_bytes(instruction);
  const int left = own - chosen;
  for (unsigned choice = 0; choice < (left ? 256u : 1u); ++choice) {
    // The most significant free byte has the largest effect.
    const uint32_t whole = left ? fixed | choice << 8 * (own - 1) : fixed;
    const uint64_t to = add_signed(instruction.address + prefixes + kJumpBytes, whole);
    if (to < reach.low || to > reach.high) continue;
    if (const uint64_t at = places_.take({to, to}, bytes, true)) return at;
  }
  return 0;
}

bool AtomicPlanner::add_patch(const PlacedCode& instruction, uint8_t prefixes, uint64_t target) noexcept {
  CodePatch patch;
  patch.address = instruction.address;
  patch.bytes = std::min<uint8_t>(instruction.decoded.length, kJumpBytes);
  memcpy(patch.before, instruction.code, patch.bytes);
  const uint64_t end = instruction.address + prefixes + kJumpBytes;
  const auto distance = static_cast<uint32_t>(target - end);
  uint8_t jump[kMaxPrefixes + kJumpBytes];
  memset(jump, kNoOperation, prefixes);
  jump[prefixes] = kJump;
  memcpy(jump + prefixes + 1, &distance, sizeof distance);
  memcpy(patch.after, jump, patch.bytes);
  return plans_.patches.add(patch) != nullptr;
}

}  // namespace hpcrun

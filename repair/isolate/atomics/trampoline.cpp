#include "repair/isolate/atomics/trampoline.h"

#include <cstring>

namespace hpcrun {

namespace {

class CodeWriter {
 public:
  explicit CodeWriter(uint64_t at) noexcept : at_(at) {}

  uint64_t at() const noexcept { return at_; }

  template <typename... Bytes>
  CodeWriter& code(Bytes... bytes) noexcept {
    (value(static_cast<uint8_t>(bytes)), ...);
    return *this;
  }
  template <typename T>
  CodeWriter& value(T number) noexcept {
    memcpy(reinterpret_cast<void*>(at_), &number, sizeof number);
    at_ += sizeof number;
    return *this;
  }
  // Writes a 32-bit distance from the byte after it.
  CodeWriter& offset_of(uint64_t target) noexcept {
    return value(static_cast<int32_t>(static_cast<int64_t>(target - (at_ + sizeof(int32_t)))));
  }
  CodeWriter& jump(uint64_t target) noexcept { return code(0xe9).offset_of(target); }

  // Writes the instruction, adjusted to this address.
  CodeWriter& copy(const PlacedCode& instruction) noexcept {
    const uint64_t from = at_;
    for (uint8_t i = 0; i < instruction.decoded.length; ++i) value(instruction.code[i]);
    if (const uint8_t place = instruction.decoded.rip_offset_at) {
      int32_t offset;
      memcpy(&offset, instruction.code + place, sizeof offset);
      offset = static_cast<int32_t>(offset + static_cast<int64_t>(instruction.address - from));
      memcpy(reinterpret_cast<void*>(from + place), &offset, sizeof offset);
    }
    return *this;
  }

 private:
  uint64_t at_;
};

// Thread-local variables lie at fixed offsets from the segment base.
void set_at_site(CodeWriter& to, const TrampolineTargets& targets, uint8_t value) noexcept {
  to.code(0x64, 0xc6, 0x04, 0x25).value(targets.at_site).value(value);  // movb $value, %fs:at_site
}

void keep_rcx(CodeWriter& to) noexcept {
  to.code(0x48, 0x8d, 0x64, 0x24, 0x80);  // lea -128(%rsp), %rsp
  to.code(0x51);                          // push %rcx
}

void restore_rcx(CodeWriter& to) noexcept {
  to.code(0x59);                                        // pop %rcx
  to.code(0x48, 0x8d, 0xa4, 0x24).value(int32_t{128});  // lea 128(%rsp), %rsp
}

constexpr size_t kBytesBesideCopies = 122;

bool is_return(const PlacedCode& instruction) noexcept {
  const uint8_t length = instruction.decoded.length;
  return instruction.code[length - 1] == 0xc3 && length <= 2;
}

}  // namespace

size_t atomic_trampoline_bytes(uint8_t length) noexcept {
  return kBytesBesideCopies + 2u * length;
}

void write_atomic_trampoline(AtomicSite& site, const PlacedCode& instruction,
                             const TrampolineTargets& targets) noexcept {
  const uint64_t back = instruction.address + instruction.decoded.length;
  const uint64_t slow_path_at = site.trampoline + atomic_trampoline_bytes(site.length) - sizeof(uint64_t);
  CodeWriter to(site.trampoline);
  const auto call_slow_path = [&] { to.code(0xff, 0x15).offset_of(slow_path_at); };  // call *slow_path
  const auto execute = [&](uint8_t& copy) {
    copy = static_cast<uint8_t>(to.at() - site.trampoline);
    to.copy(instruction);
    set_at_site(to, targets, 0);
  };
  set_at_site(to, targets, 1);
  keep_rcx(to);
  to.code(0x64, 0x48, 0x8b, 0x0c, 0x25).value(targets.own_pages);  // mov %fs:own_pages, %rcx
  to.code(0xe3, 0x00);                                             // jrcxz
  const uint64_t branch = to.at();

  to.code(0x48, 0xb9).value(reinterpret_cast<uint64_t>(&site));  // mov $site, %rcx
  call_slow_path();
  restore_rcx(to);
  execute(site.copies[1]);
  keep_rcx(to);
  to.code(0xb9).value(uint32_t{0});  // mov $0, %ecx
  call_slow_path();
  restore_rcx(to);
  to.jump(back);

  *reinterpret_cast<uint8_t*>(branch - 1) = static_cast<uint8_t>(to.at() - branch);
  restore_rcx(to);
  execute(site.copies[0]);
  to.jump(back);
  to.value(targets.slow_path);
}

// Follows the code as written above: the stack pointer changes at each of these instructions. The
// code after the path of threads with private pages, except for the last jump, is the other path.
TrampolinePosition position_in_trampoline(const AtomicSite& site, uint64_t offset) noexcept {
  constexpr uint64_t kRedZone = 128, kWithRcx = kRedZone + 8;
  constexpr uint64_t kSetsSite = 9, kLea = 5, kPush = 1, kPop = 1, kLongLea = 8, kJump = 5;
  const uint64_t length = site.length;
  const auto stack_at = [&](uint64_t kept_from, uint64_t restored_from) {
    if (offset < kept_from + kLea || offset >= restored_from + kPop + kLongLea) return uint64_t{0};
    return offset < kept_from + kLea + kPush || offset >= restored_from + kPop ? kRedZone : kWithRcx;
  };
  const uint64_t first_restore = site.copies[1] - kPop - kLongLea;
  const uint64_t short_way = site.copies[0] - kPop - kLongLea;
  const uint64_t second_restore = short_way - kJump - kPop - kLongLea;
  if (offset >= short_way) {
    const uint64_t stack = offset == short_way ? kWithRcx : offset < site.copies[0] ? kRedZone : 0;
    return {offset >= site.copies[0] + length, stack};
  }
  if (offset < site.copies[1] + length) return {false, stack_at(kSetsSite, first_restore)};
  return {true, stack_at(site.copies[1] + length + kSetsSite, second_restore)};
}

bool can_be_moved(const PlacedCode& instruction) noexcept {
  const Instruction& decoded = instruction.decoded;
  const uint8_t* const code = instruction.code;
  switch (decoded.flow) {
    case Instruction::Flow::Next: {
      const bool is_system_call = code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34);
      return !is_system_call;
    }
    case Instruction::Flow::Branch:  // jcc; not jrcxz and loop, which have no long form
      return decoded.target && ((code[0] & 0xf0) == 0x70 || (code[0] == 0x0f && (code[1] & 0xf0) == 0x80));
    case Instruction::Flow::Jump:
      return decoded.target && (code[0] == 0xeb || code[0] == 0xe9);
    case Instruction::Flow::Call:
      return false;
    case Instruction::Flow::End:
      return is_return(instruction);
  }
  return false;
}

size_t moved_bytes(const PlacedCode& instruction) noexcept {
  constexpr size_t kJump = 5, kLongBranch = 6;
  switch (instruction.decoded.flow) {
    case Instruction::Flow::Branch:
      return kLongBranch + kJump;
    case Instruction::Flow::Jump:
      return kJump;
    case Instruction::Flow::End:
      return instruction.decoded.length;
    default:
      return instruction.decoded.length + kJump;
  }
}

void write_moved(uint64_t at, const PlacedCode& instruction) noexcept {
  const Instruction& decoded = instruction.decoded;
  CodeWriter to(at);
  switch (decoded.flow) {
    case Instruction::Flow::Branch: {
      const uint8_t condition = instruction.code[0] == 0x0f ? instruction.code[1] : instruction.code[0];
      to.code(0x0f, 0x80 | (condition & 0x0f)).offset_of(decoded.target);
      break;
    }
    case Instruction::Flow::Jump:
      to.jump(decoded.target);
      return;
    case Instruction::Flow::End:
      to.copy(instruction);
      return;
    default:
      to.copy(instruction);
  }
  to.jump(instruction.address + decoded.length);
}

PlaceRange reach_of(const PlacedCode& instruction) noexcept {
  const Instruction& decoded = instruction.decoded;
  PlaceRange reach = near(instruction.address);
  if (decoded.target) reach = reach.and_in(near(decoded.target));
  if (!decoded.rip_offset_at) return reach;
  int32_t offset;
  memcpy(&offset, instruction.code + decoded.rip_offset_at, sizeof offset);
  const uint64_t next = instruction.address + decoded.length;
  return reach.and_in(near(next + static_cast<uint64_t>(int64_t{offset})));
}

}  // namespace hpcrun

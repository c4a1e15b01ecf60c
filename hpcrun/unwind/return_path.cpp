#include "hpcrun/unwind/return_path.h"

#include <algorithm>
#include <cstddef>

#include "hpcrun/model/stack_effect.h"

namespace hpcrun {
namespace {

using Kind = StackEffect::Kind;

// Video encoders unroll loops to tens of thousands of bytes.
constexpr unsigned kMaxInstructions = 24'000;
constexpr uint64_t kMaxDistance = 256 * 1024;
constexpr unsigned kMaxJumpsBack = 4;
constexpr size_t kMaxInstructionBytes = 15;
constexpr uint8_t kFramePointer = 5;  // rbp in x86 encoding order

// Keeps the branches that were not taken, and the stack at each.
class Branches {
 public:
  // Replaces a branch whose target the path has passed.
  void add(uint64_t target, uint64_t from, const ReturnPath& state) noexcept {
    if (target <= from) return;
    for (Branch& branch : branches_) {
      if (branch.target > from) continue;
      branch = {target, state};
      return;
    }
  }

  // Returns the nearest branch target past the address, and the stack there; false if no branch is left.
  bool take_beyond(uint64_t address, uint64_t& target, ReturnPath& state) noexcept {
    const Branch* nearest = nullptr;
    for (const Branch& branch : branches_) {
      if (branch.target > address && (!nearest || branch.target < nearest->target)) nearest = &branch;
    }
    if (!nearest) return false;
    target = nearest->target;
    state = nearest->state;
    return true;
  }

 private:
  static constexpr unsigned kMaxBranches = 16;

  struct Branch {
    uint64_t target = 0;
    ReturnPath state;
  };

  Branch branches_[kMaxBranches];
};

// Follows a path and tracks the stack: `return_address` is the position of rsp.
class Follower {
 public:
  Follower(uint64_t pc, CodeMemory& code) noexcept : pc_(pc), at_(pc), code_(code) {
    state_.return_address.base = StackLocation::Base::StackPointer;
  }

  // Returns the path. Its return address is unknown if the function cannot be followed.
  ReturnPath follow() noexcept {
    for (unsigned n = 0; n < kMaxInstructions; ++n) {
      StackEffect effect;
      if (!decode(effect)) break;
      if (last_ == 0 && effect.kind != Kind::None && effect.kind != Kind::Branches &&
          effect.kind != Kind::Jumps)
        last_ = at_;
      if (effect.kind == Kind::Returns) return is_pushed(state_.return_address) ? ReturnPath{} : state_;
      if (!apply(effect)) break;
    }
    if (last_ == 0) last_ = at_;
    return {};
  }

  // Returns the first instruction that moves the stack pointer, or the end of the straight part from the pc
  // if that comes earlier.
  uint64_t last() const noexcept { return std::min(last_, straight_end_); }

 private:
  bool decode(StackEffect& effect) noexcept {
    uint8_t bytes[kMaxInstructionBytes];
    size_t have = kMaxInstructionBytes;
    while (have > 0 && !code_.read(at_, bytes, have)) have /= 2;
    return have > 0 && decode_stack_effect(bytes, have, at_, effect);
  }

  bool apply(const StackEffect& effect) noexcept {
    StackLocation& sp = state_.return_address;
    switch (effect.kind) {
      case Kind::None:
        break;
      case Kind::Adds:
        sp.bytes += effect.amount;
        break;
      case Kind::Pushes:
        sp.bytes -= 8;
        pushed_ = sp;
        break;
      case Kind::Pops:
        if (effect.reg == kFramePointer && !is_pushed(sp)) state_.frame_pointer = sp;
        sp.bytes += 8;
        break;
      case Kind::Loads:
        if (sp.base != StackLocation::Base::StackPointer) return false;
        sp = {StackLocation::Base::Saved, 0, sp.bytes + effect.amount, 0};
        break;
      case Kind::Copies:
        sp = {StackLocation::Base::Register, effect.reg, 0, effect.amount};
        break;
      case Kind::Leaves:
        state_.frame_pointer = {StackLocation::Base::Register, kFramePointer, 0, 0};
        sp = {StackLocation::Base::Register, kFramePointer, 0, 8};
        break;
      case Kind::Branches:
        branches_.add(effect.target, at_, state_);
        break;
      case Kind::Jumps:
        return go_on_from_jump(effect.target);
      case Kind::Unknown:
        return leave_straight_part() && branches_.take_beyond(at_, at_, state_) && is_near();
      case Kind::Returns:
        return false;
    }
    at_ += effect.length;
    return true;
  }

  // Follows a jump. A backward jump either ends a loop, which an earlier branch leaves, or leads to code that
  // functions share.
  bool go_on_from_jump(uint64_t target) noexcept {
    leave_straight_part();
    if (target <= at_ && !branches_.take_beyond(at_, target, state_) && jumps_back_++ == kMaxJumpsBack)
      return false;
    at_ = target;
    return is_near();
  }

  // True if the path writes to this location: its contents at the pc are something else.
  bool is_pushed(const StackLocation& location) const noexcept {
    return location == pushed_ || (location.base == StackLocation::Base::StackPointer && location.bytes < 0);
  }

  bool leave_straight_part() noexcept {
    straight_end_ = std::min(straight_end_, at_);
    return true;
  }

  bool is_near() const noexcept { return at_ - pc_ <= kMaxDistance || pc_ - at_ <= kMaxDistance; }

  const uint64_t pc_;
  uint64_t at_;
  CodeMemory& code_;
  ReturnPath state_;
  StackLocation pushed_;  // the last location that was pushed to
  Branches branches_;
  uint64_t last_ = 0;
  uint64_t straight_end_ = UINT64_MAX;
  unsigned jumps_back_ = 0;
};

}  // namespace

ReturnPath ReturnPaths::find(uint64_t pc, uint64_t generation, CodeMemory& code) noexcept {
  if (generation_ != generation) {
    for (Range& range : ranges_) range.last = 0;
    generation_ = generation;
  }
  for (const Range& range : ranges_)
    if (range.begin <= pc && pc <= range.last) return range.path;
  Follower follower(pc, code);
  const ReturnPath path = follower.follow();
  keep(pc, follower.last(), path);
  return path;
}

// Merges ranges that end at the same instruction: the later one has the same answer.
void ReturnPaths::keep(uint64_t pc, uint64_t last, const ReturnPath& path) noexcept {
  for (Range& range : ranges_) {
    if (range.last != last) continue;
    range = {pc, last, path};
    return;
  }
  ranges_[next_++ % kRanges] = {pc, last, path};
}

}  // namespace hpcrun

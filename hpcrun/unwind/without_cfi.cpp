// Steps through code without call frame information: JIT code and assembly. Tries the most reliable evidence
// first: the instructions that lead to the return; the frame pointer; for a leaf in a module, a search of its
// frame. Every result must look like a return address.

#include <algorithm>
#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {
namespace {

// The largest frame that is assumed. If rbp points further, it holds some other value.
constexpr uint64_t kMaxGuessedFrameBytes = 1u << 20;
// Video encoders in assembly keep blocks of a picture on the stack.
constexpr uint64_t kMaxSearchedBytes = 16 * 1024;
// Assembly calls assembly, but not deeply.
constexpr unsigned kMaxSearchedFrames = 4;
constexpr uint64_t kMaxFunctionBytes = 256 * 1024;
constexpr unsigned kMaxSearchTries = 8;
// Maps general registers from x86 encoding order to DWARF numbers.
constexpr uint8_t kDwarfRegisters[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
// Virtual machines put their code into one reservation, usually of 240 MiB at most.
constexpr uint64_t kMaxCodeCacheBytes = 256u << 20;

bool is_near(uint64_t one, uint64_t other) noexcept {
  return one - other < kMaxCodeCacheBytes || other - one < kMaxCodeCacheBytes;
}

// Describes the effect of one instruction on the way to the return at the end of a function. Also covers the
// C library's _init, which consists only of such instructions. length 0: any other instruction.
struct Release {
  unsigned length = 0;
  uint64_t bytes = 0;  // added to rsp
  bool pops_rbp = false;
  bool leaves = false;
  bool returns = false;
};

Release read_release(const uint8_t* code) noexcept {
  const auto starts_with = [&](auto... bytes) {
    const uint8_t* at = code;
    return ((*at++ == bytes) && ...);
  };
  Release step;
  if (starts_with(0xc3)) {  // ret
    step.length = 1;
    step.returns = true;
  } else if (starts_with(0xc9)) {  // leave
    step.length = 1;
    step.leaves = true;
  } else if (code[0] >= 0x58 && code[0] <= 0x5f && code[0] != 0x5c) {  // pop %reg
    step.length = 1;
    step.bytes = 8;
    step.pops_rbp = code[0] == 0x5d;
  } else if (code[0] == 0x41 && code[1] >= 0x58 && code[1] <= 0x5f) {  // pop %r8 ... %r15
    step.length = 2;
    step.bytes = 8;
  } else if (starts_with(0x48, 0x83, 0xc4) && code[3] < 0x80) {  // add $byte,%rsp
    step.length = 4;
    step.bytes = code[3];
  } else if (starts_with(0x48, 0x81, 0xc4)) {  // add $number,%rsp
    uint32_t bytes;
    std::memcpy(&bytes, code + 3, sizeof bytes);
    step.length = bytes < kMaxGuessedFrameBytes ? 7 : 0;
    step.bytes = bytes;
  } else if (starts_with(0x48, 0x83, 0xec) && code[3] < 0x80) {  // sub $byte,%rsp
    step.length = 4;
    step.bytes = -uint64_t{code[3]};
  } else if (starts_with(0x48, 0x8b, 0x05)) {  // mov number(%rip),%rax: loads the address of __gmon_start__
    step.length = 7;
  } else if (starts_with(0x48, 0x85, 0xc0)) {  // test %rax,%rax
    step.length = 3;
  } else if (starts_with(0x74, 0x02, 0xff, 0xd0)) {  // je over call *%rax
    step.length = 4;
  } else if (starts_with(0xff, 0xd0)) {  // call *%rax
    step.length = 2;
  } else if (starts_with(0xc5, 0xf8, 0x77)) {  // vzeroupper
    step.length = 3;
  } else if (starts_with(0x49, 0x3b, 0xa7)) {  // cmp number(%r15),%rsp: HotSpot's safepoint poll
    step.length = 7;
  } else if (starts_with(0x0f, 0x87)) {  // ja: to the safepoint handler
    step.length = 6;
  }
  return step;
}

}  // namespace

// Follows the instructions from the pc to `ret`, as long as they do little but leave the function. `stays`:
// another instruction is on the way.
bool Unwinder::State::follow_epilogue(uint64_t sp, uint64_t bp, uint64_t& cfa, uint64_t& caller_bp,
                                      bool& stays) noexcept {
  constexpr unsigned kMaxInstructions = 12;
  constexpr size_t kLongest = 8;
  uint64_t at = pc();
  for (unsigned n = 0; n < kMaxInstructions; ++n) {
    uint8_t bytes[kLongest] = {};
    size_t have = kLongest;
    while (have > 0 && !code.read(at, bytes, have)) have /= 2;
    const Release step = read_release(bytes);
    stays = step.length == 0 && have == kLongest;
    if (step.length == 0 || step.length > have) return false;
    if (step.returns) {
      cfa = sp + 8;
      caller_bp = bp;
      return true;
    }
    if (step.leaves) {
      sp = bp;
      if (!memory.load(sp, bp)) return false;
      sp += 8;
    }
    if (step.pops_rbp && !memory.load(sp, bp)) return false;
    sp += step.bytes;
    at += step.length;
  }
  return false;
}

// Returns the target of the stub at the address: jmp *slot(%rip), possibly after an endbr64, or jmp target.
// Returns 0 if it is not a stub.
uint64_t Unwinder::State::stub_target(uint64_t address) noexcept {
  constexpr size_t kEndbr = 4;
  uint8_t bytes[kEndbr + 6];
  if (!code.read(address, bytes, sizeof bytes)) return 0;
  const size_t at = bytes[0] == 0xf3 && bytes[1] == 0x0f ? kEndbr : 0;
  const bool direct = bytes[at] == 0xe9;
  if (!direct && (bytes[at] != 0xff || bytes[at + 1] != 0x25)) return 0;
  const size_t length = direct ? 5 : 6;
  int32_t distance;
  std::memcpy(&distance, bytes + at + length - sizeof distance, sizeof distance);
  uint64_t target = address + at + length + static_cast<uint64_t>(int64_t{distance});
  return direct || safe_load_word(target, target) ? target : 0;
}

bool Unwinder::State::has_cfi(uint64_t address) noexcept {
  const LoadedModule* const module = loaded_module(address);
  return module && rule_of(*module, address).kind != RuleKind::None;
}

// Returns the target of the direct call before the address, or 0 if the call is not direct.
uint64_t Unwinder::State::call_target(uint64_t return_address) noexcept {
  constexpr size_t kCallBytes = 5;
  uint8_t call[kCallBytes];
  if (!code.read(return_address - kCallBytes, call, kCallBytes) || call[0] != 0xe8) return 0;
  int32_t distance;
  std::memcpy(&distance, call + 1, sizeof distance);
  const uint64_t target = return_address + static_cast<uint64_t>(int64_t{distance});
  const uint64_t beyond = stub_target(target);
  return beyond ? beyond : target;
}

// Compares the target of a direct call with the current code. If it goes elsewhere, the return address is
// left over from an earlier call.
CallEvidence Unwinder::State::call_evidence(uint64_t return_address) noexcept {
  uint8_t byte;
  if (!code.read(return_address - 1, &byte, 1)) return CallEvidence::Against;
  const uint64_t target = call_target(return_address);
  if (!target) return CallEvidence::None;
  const bool before = target <= pc() && pc() - target <= kMaxFunctionBytes;
  return before && loaded_module(target) == loaded_module(pc()) && !has_cfi(target) ? CallEvidence::For
                                                                                    : CallEvidence::Against;
}

// True if another function begins between the start of a function and the pc. Functions are aligned, and are
// padded by int3 or begin right after a return.
bool Unwinder::State::has_boundary_behind(uint64_t function) noexcept {
  constexpr uint64_t kAlignment = 16;
  for (uint64_t at = (function / kAlignment + 1) * kAlignment; at <= pc(); at += kAlignment) {
    uint8_t before;
    if (!code.read(at - 1, &before, 1) || before == 0xcc || before == 0xc3) return true;
  }
  return false;
}

// True if the call before the address is a direct call to the function that contains the pc.
bool Unwinder::State::calls_this_function(uint64_t return_address) noexcept {
  constexpr uint64_t kMaxScannedBytes = 16 * 1024;
  const uint64_t target = call_target(return_address);
  return target && call_evidence(return_address) == CallEvidence::For && pc() - target <= kMaxScannedBytes &&
         !has_boundary_behind(target);
}

// True if the function called before the address begins with push %rbp; mov %rsp,%rbp. If the call is through
// a pointer, checks the function that begins right before the pc.
bool Unwinder::State::keeps_frame_pointer(uint64_t return_address) noexcept {
  constexpr uint64_t kAlignment = 16;
  constexpr uint64_t kMaxScannedBytes = 4096;
  constexpr size_t kEndbr = 4;
  const auto makes_frame = [&](uint64_t function) {
    uint8_t bytes[kEndbr + 4];
    if (!code.read(function, bytes, sizeof bytes)) return false;
    const uint8_t* at = bytes + (bytes[0] == 0xf3 && bytes[1] == 0x0f ? kEndbr : 0);
    return at[0] == 0x55 && at[1] == 0x48 &&
           ((at[2] == 0x89 && at[3] == 0xe5) || (at[2] == 0x8b && at[3] == 0xec));
  };
  if (const uint64_t target = call_target(return_address))
    return call_evidence(return_address) == CallEvidence::For && makes_frame(target);
  for (uint64_t at = pc() / kAlignment * kAlignment; pc() - at <= kMaxScannedBytes; at -= kAlignment)
    if (makes_frame(at)) return !has_boundary_behind(at);
  return false;
}

// Finds the caller's return address on the stack. Prefers a direct call to this very function, whose caller
// may have no unwind tables either. Otherwise accepts a call through a pointer from code with tables, below
// the frame that rbp points to. The result is unproven if a word below it may be the return address of a
// caller without tables.
bool Unwinder::State::find_caller(uint64_t frame, FoundCaller& found) noexcept {
  bool may_skip = false;
  found = {};
  uint64_t word;
  for (uint64_t at = sp() + (exact ? 8 : 0); at < sp() + kMaxSearchedBytes && memory.load(at, word);
       at += 8) {
    if (!loaded_module(word) || !is_plausible_return(word)) continue;
    if (calls_this_function(word)) {
      found = {at, may_skip ? Guess::Unproven : Guess::Search};
      return true;
    }
    if (call_evidence(word) != CallEvidence::None) continue;
    if (!has_cfi(word - 1))
      may_skip = true;
    else if (found.return_at == 0 && at < frame)
      found = {at, may_skip ? Guess::Unproven : Guess::Search};
  }
  return found.return_at != 0;
}

// Returns the caller's rbp: still in the register, or among the words that the leaf pushed right below its
// return address.
uint64_t Unwinder::State::find_saved_frame_pointer(uint64_t return_at, uint64_t bp) noexcept {
  constexpr unsigned kMaxPushed = 6;
  const auto fits = [&](uint64_t value) {
    return value > return_at && value - return_at < kMaxGuessedFrameBytes && value % 8 == 0;
  };
  if (fits(bp)) return bp;
  uint64_t value;
  for (uint64_t n = 1; n <= kMaxPushed && return_at - 8 * n >= sp(); ++n)
    if (memory.load(return_at - 8 * n, value) && fits(value)) return value;
  return bp;
}

bool Unwinder::State::find_location(const StackLocation& location, uint64_t& address) noexcept {
  uint64_t base = sp();
  switch (location.base) {
    case StackLocation::Base::None:
      return false;
    case StackLocation::Base::StackPointer:
      break;
    case StackLocation::Base::Saved:
      if (!memory.load(base + static_cast<uint64_t>(location.saved), base)) return false;
      break;
    case StackLocation::Base::Register: {
      const unsigned reg = kDwarfRegisters[location.reg];
      if (!registers.has(reg)) return false;
      base = registers.value[reg];
      break;
    }
  }
  address = base + static_cast<uint64_t>(location.bytes);
  return address >= sp() && address - sp() < kMaxGuessedFrameBytes && address % 8 == 0;
}

// Finds where the function's own instructions, up to its return, load the return address and the caller's rbp
// from.
bool Unwinder::State::follow_to_return(const ReturnPath& path, uint64_t& return_at, uint64_t& bp) noexcept {
  if (!find_location(path.return_address, return_at)) return false;
  uint64_t bp_at;
  return path.frame_pointer.base == StackLocation::Base::None ||
         (find_location(path.frame_pointer, bp_at) && memory.load(bp_at, bp));
}

// True if the call never returns, as in _start, which has no caller: a hlt follows, which only the kernel may
// execute.
bool Unwinder::State::is_first_function() noexcept {
  constexpr uint8_t kHlt = 0xf4;
  uint8_t byte;
  return code.read(pc(), &byte, 1) && byte == kHlt;
}

Step Unwinder::State::step_without_cfi(Rule& rule) noexcept {
  if (is_too_long()) return Step::failed(StackReason::WalkTooLong);
  const uint64_t sp = registers.value[kRsp];
  const uint64_t bp = registers.has(kRbp) ? registers.value[kRbp] : 0;
  uint64_t return_address;
  const auto take = [&](uint64_t cfa, uint64_t caller_bp, Guess how = Guess::FramePointer) {
    const Registers before = registers;
    caller.known = 0;
    if (all_registers) {
      for (const unsigned reg :
           {unsigned{kRbx}, unsigned{kR12}, unsigned{kR13}, unsigned{kR14}, unsigned{kR15}}) {
        if (before.has(reg)) caller.set(reg, before.value[reg]);
      }
    }
    caller.set(kRsp, cfa);
    caller.set(kRbp, caller_bp);
    caller.set(kReturnAddress, return_address);
    if (guess < how) guess = how;
    return finish_step(Rule{});
  };
  const auto returns_from = [&](uint64_t at) {
    return memory.load(at, return_address) && is_plausible_return(return_address);
  };

  const bool in_module = frame_module(frames[depth - 1]) != kModuleNone;
  if (!exact && in_module && is_first_function()) return {StepKind::Ended, StackReason::EndOfStack};
  uint64_t cfa;
  uint64_t saved_bp;
  if (exact || !(rule.flags & kRuleStays)) {
    bool stays = false;
    if (follow_epilogue(sp, bp, cfa, saved_bp, stays) && returns_from(cfa - 8)) return take(cfa, saved_bp);
    if (stays && !exact) rule.flags |= kRuleStays;
  }
  if (in_module) {
    const ReturnPath path = return_paths.find(pc(), generation_tag, code);
    if (path.return_address.base == StackLocation::Base::Register && !all_registers)
      return {StepKind::NeedsRegisters};
    uint64_t return_at;
    uint64_t caller_bp = bp;
    if (follow_to_return(path, return_at, caller_bp) && returns_from(return_at))
      return take(return_at + 8, caller_bp);
  }
  bool readable = true;
  if (exact) {
    uint8_t bytes[4] = {};
    readable = code.read(pc(), bytes, sizeof bytes);
    const bool at_entry =
        bytes[0] == 0x55 ||                                                             // push %rbp
        (bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e && bytes[3] == 0xfa) ||  // endbr64
        (bytes[0] == 0x89 && bytes[1] == 0x84 &&
         bytes[2] == 0x24);  // mov %eax,-number(%rsp): HotSpot's stack bang
    const bool frame_half_made = bytes[0] == 0x48 && ((bytes[1] == 0x89 && bytes[2] == 0xe5) ||  // mov %rsp,%rbp
                                                     (bytes[1] == 0x8b && bytes[2] == 0xec));
    if (readable && frame_half_made && returns_from(sp + 8) && memory.load(sp, saved_bp))
      return take(sp + 16, saved_bp);
    // A jump to an address without code leaves the caller's return address on top, as does an assembly leaf.
    if ((!readable || at_entry || in_module) && returns_from(sp)) return take(sp + 8, bp);
  }
  const bool near_enough = bp >= sp && bp - sp <= kMaxGuessedFrameBytes && bp % 8 == 0;
  if (near_enough && memory.load(bp, saved_bp) && memory.load(bp + 8, return_address)) {
    // Zeros end a stack that a JIT compiler made. In a module, rbp may hold any value, and zeros above it are
    // common.
    if (return_address == 0 && saved_bp == 0 && !in_module) return take(bp + 16, saved_bp);
    const LoadedModule* const to = loaded_module(return_address);
    // Code without tables that rbp leads to, such as V8's builtins, keeps frame pointers instead.
    if (in_module && is_plausible_return(return_address) && has_cfi(return_address - 1) &&
        !keeps_frame_pointer(return_address)) {
      // rbp leads to a frame here, but perhaps not to the caller's.
      const uint64_t of_frame = return_address;
      FoundCaller found;
      if (find_caller(bp, found) && memory.load(found.return_at, return_address))
        return take(found.return_at + 8, find_saved_frame_pointer(found.return_at, bp), found.how);
      return_address = of_frame;
      if (saved_bp == 0 || saved_bp > bp || to) return take(bp + 16, saved_bp, Guess::Unproven);
    }
    const bool chain_goes_up = saved_bp == 0 || saved_bp > bp;
    if ((to || chain_goes_up) && is_plausible_return(return_address)) return take(bp + 16, saved_bp);
    // Some virtual machines generate interpreters that enter by jumps and let calls return to the start of
    // the next bytecode: no call precedes that address.
    if (!in_module && !to && saved_bp > bp && saved_bp - bp <= kMaxGuessedFrameBytes && saved_bp % 8 == 0 &&
        is_near(return_address, pc())) {
      assumed_return = return_address;
      return take(bp + 16, saved_bp);
    }
  }
  if (exact && returns_from(sp)) return take(sp + 8, bp);
  // Fibers end here in every sample: their base is not searched for callers.
  if (in_module && is_base_of_made_stack()) return Step::failed(StackReason::NoUnwindInfo);
  FoundCaller found;
  if (in_module && find_caller(0, found) && memory.load(found.return_at, return_address))
    return take(found.return_at + 8, find_saved_frame_pointer(found.return_at, bp), found.how);
  if (in_module && depth <= kMaxSearchedFrames && search.tries == 0 && is_mostly_compiled()) {
    const uint64_t first = sp + (exact ? 8 : 0);
    search = {registers, first, first, depth, exact, 0, false, CallEvidence::For};
    return search_frame();
  }
  if (in_module) return Step::failed(StackReason::NoUnwindInfo);
  return Step::failed(readable ? StackReason::GeneratedCode : StackReason::UnknownModule);
}

// True if the module is mostly compiled code, which calls its assembly. In a module without call frame
// information, the caller may have none either, and would be skipped.
bool Unwinder::State::is_mostly_compiled() noexcept {
  constexpr uint64_t kMaxBytesPerRow = 256;         // compilers emit a row for every 20 or so,
  constexpr uint64_t kMaxBytesPerFunction = 4'096;  // and a function for every few hundred
  const LoadedModule* const module = loaded_module(pc());
  if (!module || !module->table) return false;
  const CfiIndex* const index = module->table->index;
  const uint64_t covered_bytes =
      index ? index->functions() * kMaxBytesPerFunction : module->table->row_count * kMaxBytesPerRow;
  return covered_bytes >= module->text_end - module->text_start;
}

// Tries the next word of the frame that can be its return address. Parts of the frame that the code has not
// written yet hold older ones. Therefore words proven by a direct call are tried first, and a word that does
// not lead to the end of the stack is rejected.
Step Unwinder::State::search_frame() noexcept {
  registers = search.registers;
  depth = search.depth;
  exact = search.exact;
  const uint64_t end = sp() + kMaxSearchedBytes;
  const uint64_t bp = registers.has(kRbp) ? registers.value[kRbp] : 0;
  uint64_t return_address;
  while (search.tries < kMaxSearchTries) {
    if (search.next >= end || !memory.load(search.next, return_address)) {
      if (search.wanted == CallEvidence::None) break;
      search.wanted = CallEvidence::None;
      search.next = search.first;
      continue;
    }
    const uint64_t at = search.next;
    search.next += 8;
    if (!loaded_module(return_address) || !is_plausible_return(return_address)) continue;
    if (call_evidence(return_address) != search.wanted) continue;
    if (!has_cfi(return_address - 1)) {
      // Its caller may have no tables either: a word found further up may be another frame's.
      search.may_skip |= search.wanted == CallEvidence::None;
      continue;
    }
    ++search.tries;
    guess = std::max(guess, search.may_skip ? Guess::Unproven : Guess::Search);
    caller = registers;
    caller.set(kRsp, at + 8);
    caller.set(kRbp, find_saved_frame_pointer(at, bp));
    caller.set(kReturnAddress, return_address);
    return finish_step(Rule{});
  }
  search.next = 0;
  return Step::failed(StackReason::NoUnwindInfo);
}

}  // namespace hpcrun

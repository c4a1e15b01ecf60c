#include "prof/external_sampler/walk.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

#include "hpcrun/elf/dwarf.h"
#include "hpcrun/unwind/rule.h"
#include "hpcrun/unwind/rule_step.h"

namespace prof {

namespace {

using hpcrun::kRbp;
using hpcrun::kReturnAddress;
using hpcrun::kRsp;
using hpcrun::Rule;
using hpcrun::RuleKind;
using hpcrun::StackReason;

// Returns the length at which the kernel cuts chains.
size_t longest_chain() {
  static const size_t limit = [] {
    size_t setting = 127;  // the kernel's default
    std::ifstream("/proc/sys/kernel/perf_event_max_stack") >> setting;
    return setting;
  }();
  return limit;
}

// The piece of stack that came with a sample.
class SampledStack {
 public:
  SampledStack(const std::vector<uint8_t>& bytes, uint64_t start) : bytes_(bytes), start_(start) {}

  bool load(uint64_t address, uint64_t& value) noexcept {
    if (address < start_ || bytes_.size() < sizeof value || address - start_ > bytes_.size() - sizeof value) {
      unreadable_ = address;
      return false;
    }
    std::memcpy(&value, bytes_.data() + (address - start_), sizeof value);
    return true;
  }
  uint64_t start() const { return start_; }
  // The address of the last load that failed.
  uint64_t unreadable() const { return unreadable_; }

 private:
  const std::vector<uint8_t>& bytes_;
  uint64_t start_;
  uint64_t unreadable_ = 0;
};

class Walk {
 public:
  Walk(const AddressSpace& space, const PerfSample& sample)
      : space_(space),
        sample_(sample),
        stack_(sample.stack, sample.registers.empty() ? 0 : sample.registers[kRsp]) {}

  OutsideStack run() {
    if (sample_.registers.empty()) return by_chain_alone(StackReason::NoUnwindInfo);
    std::copy_n(sample_.registers.begin(), hpcrun::kRegisterCount, registers_.value);
    registers_.known = hpcrun::kAllRegisters;
    const StackReason end = by_tables();
    if (stack_class(end) == hpcrun::StackClass::Complete || !in_go_) return {std::move(frames_), end};
    return beyond_go_stack();
  }

 private:
  uint64_t pc() const { return registers_.value[kReturnAddress]; }
  uint64_t sp() const { return registers_.value[kRsp]; }

  void push(uint64_t address) {
    const MappedImage* mapped = space_.find(address);
    frames_.push_back(mapped ? hpcrun::make_frame(mapped->module, address - mapped->load_bias)
                             : hpcrun::make_frame(hpcrun::kModuleNone, address));
  }

  const Rule* rule_at(uint64_t address) const {
    const MappedImage* mapped = space_.find(address);
    if (!mapped || !mapped->image->table()) return nullptr;
    return &lookup(*mapped->image->table(), address - mapped->load_bias);
  }

  StackReason by_tables() {
    for (bool exact = true;; exact = leaves_exact_) {
      if (!exact && pc() == 0) return StackReason::ThreadStart;
      if (frames_.size() == hpcrun::kMaxDepth) return StackReason::TooDeep;
      const uint64_t address = pc() - (exact ? 0 : 1);
      const MappedImage* mapped = space_.find(address);
      if (!mapped && !exact) return StackReason::UnknownModule;
      in_go_ = mapped && mapped->image->is_go();
      if (in_go_ && !exact && meets_chain()) return along_chain();
      push(address);
      const Rule* rule = rule_at(address);
      if (!rule || rule->kind == RuleKind::None) {
        if (mapped && mapped->image->is_entry(address - mapped->load_bias)) return StackReason::EndOfStack;
        if (const auto end = by_frame_pointer(exact)) return *end;
      } else if (const auto end = by_rule(*rule)) {
        return *end;
      }
    }
  }

  // Steps to the caller. Returns a reason if the walk ends.
  std::optional<StackReason> by_rule(const Rule& rule) {
    if (rule.kind == RuleKind::EndOfStack) return StackReason::EndOfStack;
    if (rule.kind == RuleKind::Interpret) return StackReason::Unsupported;
    hpcrun::Registers caller;
    const hpcrun::RuleStep step = step_by_rule(rule, registers_, true, stack_, caller);
    // The walk ends between two frames: the kernel's chain does not go on from this one's frame pointer.
    if (step != hpcrun::RuleStep::Ok) registers_.known = 0;
    switch (step) {
      case hpcrun::RuleStep::Ok:
        break;
      case hpcrun::RuleStep::Unreadable:
        // Beyond the piece of stack that came with the sample, or no stack at all?
        return stack_.unreadable() >= stack_.start() && sample_.stack_is_cut ? StackReason::StackCut
                                                                             : StackReason::UnreadableStack;
      default:
        return StackReason::Unsupported;
    }
    const bool interrupted = rule.flags & hpcrun::kRuleSignalFrame;
    if (!interrupted && caller.value[kRsp] <= sp()) return StackReason::NoProgress;
    registers_ = caller;
    leaves_exact_ = interrupted;
    return std::nullopt;
  }

  // Steps through code without call frame information: assembly, generated code, stripped Go programs.
  std::optional<StackReason> by_frame_pointer(bool exact) {
    uint64_t caller_bp;
    uint64_t return_address;
    const uint64_t bp = registers_.value[kRbp];
    if (!registers_.has(kRbp) || !stack_.load(bp, caller_bp) || !stack_.load(bp + 8, return_address) ||
        !(returns_to_call(return_address) || (return_address == 0 && caller_bp == 0))) {
      // A leaf function in assembly has no frame.
      if (!exact || !stack_.load(sp(), return_address) || !returns_to_call(return_address))
        return space_.find(pc()) ? StackReason::NoUnwindInfo : StackReason::UnknownModule;
      registers_.set(kRsp, sp() + 8);
    } else {
      registers_.set(kRsp, bp + 16);
      registers_.set(kRbp, caller_bp);
    }
    registers_.set(kReturnAddress, return_address);
    leaves_exact_ = false;
    return std::nullopt;
  }

  bool returns_to_call(uint64_t address) const {
    const MappedImage* mapped = space_.find(address - 1);
    return mapped && mapped->image->follows_call(address - mapped->load_bias);
  }

  bool starts_goroutine(uint64_t address) const {
    const MappedImage* mapped = space_.find(address - 1);
    return mapped && mapped->image->starts_goroutine(address - mapped->load_bias);
  }

  // True if the return address is in the kernel's chain. The walk continues from there.
  bool meets_chain() {
    const auto from = sample_.callers.begin() + std::min<ptrdiff_t>(1, std::ssize(sample_.callers));
    meeting_ = std::find(from, sample_.callers.end(), pc());
    return meeting_ != sample_.callers.end();
  }

  StackReason along_chain() {
    for (auto at = meeting_; at != sample_.callers.end(); ++at) push(*at - 1);
    return chain_end(StackReason::JitFramePointer);
  }

  // Returns how the chain ends: `otherwise` if no table marks the last frame as the outermost.
  StackReason chain_end(StackReason otherwise) const {
    if (sample_.callers.size() >= longest_chain()) return StackReason::ChainCut;
    const Rule* rule = rule_at(sample_.callers.back() - 1);
    return rule && rule->kind == RuleKind::EndOfStack ? StackReason::EndOfStack : otherwise;
  }

  // Go has switched stacks, or its stack is larger than the piece copied with the sample. The chain continues
  // there, unless C code that Go called uses the frame pointer for something else.
  OutsideStack beyond_go_stack() {
    const bool kept = registers_.has(kRbp) && registers_.value[kRbp] == sample_.registers[kRbp];
    const auto callers = std::span(sample_.callers).subspan(std::min<size_t>(1, sample_.callers.size()));
    const auto is_plausible = [&](uint64_t address) {
      return returns_to_call(address) || (address == callers.back() && starts_goroutine(address));
    };
    const bool plausible = !callers.empty() && std::ranges::all_of(callers, is_plausible);
    if (!plausible) return {std::move(frames_), StackReason::StackCut};
    if (!kept) return by_chain_alone(StackReason::JitFramePointer);
    for (const uint64_t caller : callers) push(caller - 1);
    const StackReason end = chain_end(StackReason::JitFramePointer);
    return {std::move(frames_), end};
  }

  OutsideStack by_chain_alone(StackReason otherwise) {
    frames_.clear();
    for (size_t i = 0; i < sample_.callers.size(); ++i) push(sample_.callers[i] - (i == 0 ? 0 : 1));
    if (frames_.empty()) return {{}, StackReason::UnknownModule};
    const StackReason end = chain_end(otherwise);
    return {std::move(frames_), end};
  }

  const AddressSpace& space_;
  const PerfSample& sample_;
  SampledStack stack_;
  hpcrun::Registers registers_;
  bool leaves_exact_ = true;
  bool in_go_ = false;
  std::vector<uint64_t>::const_iterator meeting_;
  std::vector<hpcrun::FrameKey> frames_;
};

}  // namespace

void AddressSpace::map(MappedImage mapped) {
  auto at = mappings_.lower_bound(mapped.start);
  if (at != mappings_.begin() && std::prev(at)->second.end > mapped.start) --at;
  while (at != mappings_.end() && at->second.start < mapped.end) at = mappings_.erase(at);
  const uint64_t start = mapped.start;
  mappings_.emplace(start, std::move(mapped));
}

const MappedImage* AddressSpace::find(uint64_t address) const {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return nullptr;
  --at;
  return address < at->second.end ? &at->second : nullptr;
}

OutsideStack walk(const AddressSpace& space, const PerfSample& sample) {
  return Walk(space, sample).run();
}

}  // namespace prof

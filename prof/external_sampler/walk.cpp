#include "prof/external_sampler/walk.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

#include "hpcrun/elf/dwarf.h"
#include "hpcrun/unwind/rule.h"

namespace prof {

namespace {

using hpcrun::kRbp;
using hpcrun::kReturnAddress;
using hpcrun::kRsp;
using hpcrun::Place;
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

class Walk {
 public:
  Walk(const AddressSpace& space, const PerfSample& sample) : space_(space), sample_(sample) {}

  OutsideStack run() {
    if (sample_.registers.empty()) return by_chain_alone(StackReason::NoUnwindInfo);
    registers_ = sample_.registers;
    known_ = (1u << hpcrun::kRegisterCount) - 1;
    const StackReason end = by_tables();
    if (stack_class(end) == hpcrun::StackClass::Complete || !in_go_) return {std::move(frames_), end};
    return beyond_go_stack();
  }

 private:
  uint64_t pc() const { return registers_[kReturnAddress]; }
  uint64_t sp() const { return registers_[kRsp]; }

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

  bool load(uint64_t address, uint64_t& value) const {
    const uint64_t from = sample_.registers[kRsp];
    const std::vector<uint8_t>& stack = sample_.stack;
    if (address < from || stack.size() < sizeof value || address - from > stack.size() - sizeof value)
      return false;
    std::memcpy(&value, stack.data() + (address - from), sizeof value);
    return true;
  }

  // Returns the reason why a word cannot be loaded: it is past the copied piece of the stack, or not on the
  // stack at all.
  StackReason unreadable(uint64_t address) const {
    return address >= sample_.registers[kRsp] && sample_.stack_is_cut ? StackReason::StackCut
                                                                      : StackReason::UnreadableStack;
  }

  // Steps to the caller. Returns a reason if the walk ends.
  std::optional<StackReason> by_rule(const Rule& rule) {
    if (rule.kind == RuleKind::EndOfStack) return StackReason::EndOfStack;
    if (rule.kind == RuleKind::Interpret) return StackReason::Unsupported;
    uint64_t cfa;
    if (rule.kind == RuleKind::Plt) {
      cfa = sp() + 8 + ((pc() & 15) >= static_cast<uint64_t>(rule.cfa_offset) ? 8 : 0);
    } else {
      if (!(known_ >> rule.cfa_register & 1)) return StackReason::Unsupported;
      cfa = registers_[rule.cfa_register] + static_cast<uint64_t>(int64_t{rule.cfa_offset});
      if (rule.kind == RuleKind::Deref)
        if (const uint64_t place = cfa; !load(place, cfa)) return unreadable(place);
    }
    return recover(rule, cfa);
  }

  std::optional<StackReason> recover(const Rule& rule, uint64_t cfa) {
    const std::vector<uint64_t> before = registers_;
    const uint32_t known_before = known_;
    std::optional<StackReason> failure;
    known_ = 0;
    set(kRsp, cfa);
    const auto load_from = [&](unsigned reg, uint64_t at) {
      uint64_t value;
      if (load(at, value))
        set(reg, value);
      else if (!failure)
        failure = unreadable(at);
    };
    const auto recover_one = [&](unsigned reg, Place place) {
      const auto offset = static_cast<uint64_t>(place.offset());
      const bool had = known_before >> reg & 1;
      switch (place.base()) {
        case Place::Cfa:
          return load_from(reg, cfa + offset);
        case Place::Rbp:
          if (known_before >> kRbp & 1) load_from(reg, before[kRbp] + offset);
          return;
        case Place::Rsp:
          return load_from(reg, before[kRsp] + offset);
        case Place::Special:
          if (place.is_unchanged() && had) set(reg, before[reg]);
      }
    };
    recover_one(kReturnAddress, rule.return_address);
    if (failure) return failure;
    if (!(known_ >> kReturnAddress & 1)) return StackReason::Unsupported;
    recover_one(kRbp, rule.rbp);
    recover_one(hpcrun::kRbx, rule.rbx);
    recover_one(hpcrun::kR12, rule.r12);
    recover_one(hpcrun::kR13, rule.r13);
    recover_one(hpcrun::kR14, rule.r14);
    recover_one(hpcrun::kR15, rule.r15);
    const bool kernel_frame = rule.flags & hpcrun::kRuleKernelFrame;
    if (kernel_frame)
      for (unsigned reg = 0; reg < hpcrun::kRegisterCount; ++reg)
        load_from(reg, before[kRsp] + static_cast<uint64_t>(hpcrun::kernel_frame_offset(reg)));
    if (failure) return failure;
    const bool interrupted = rule.flags & hpcrun::kRuleSignalFrame;
    if (!interrupted && cfa <= before[kRsp]) return StackReason::NoProgress;
    leaves_exact_ = interrupted;
    return std::nullopt;
  }

  // Steps through code without call frame information: assembly, generated code, stripped Go programs.
  std::optional<StackReason> by_frame_pointer(bool exact) {
    uint64_t caller_bp;
    uint64_t return_address;
    const uint64_t bp = registers_[kRbp];
    if (!(known_ >> kRbp & 1) || !load(bp, caller_bp) || !load(bp + 8, return_address) ||
        !(returns_to_call(return_address) || (return_address == 0 && caller_bp == 0))) {
      // A leaf function in assembly has no frame.
      if (!exact || !load(sp(), return_address) || !returns_to_call(return_address))
        return space_.find(pc()) ? StackReason::NoUnwindInfo : StackReason::UnknownModule;
      set(kRsp, sp() + 8);
    } else {
      set(kRsp, bp + 16);
      set(kRbp, caller_bp);
    }
    set(kReturnAddress, return_address);
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
    const bool kept = known_ >> kRbp & 1 && registers_[kRbp] == sample_.registers[kRbp];
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

  void set(unsigned reg, uint64_t value) {
    registers_[reg] = value;
    known_ |= 1u << reg;
  }

  const AddressSpace& space_;
  const PerfSample& sample_;
  std::vector<uint64_t> registers_;
  uint32_t known_ = 0;  // bit per register
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

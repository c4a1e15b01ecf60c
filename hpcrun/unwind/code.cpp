// Looks up what the walk needs about a code address: its module, its frame key and its rule.

#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {
namespace {

// mov $SYS_rt_sigreturn, %rax; syscall: the start of every signal restorer, with or without call frame
// information.
constexpr uint8_t kRestorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

}  // namespace

bool Unwinder::State::is_restorer(uint64_t pc) noexcept {
  uint8_t bytes[sizeof kRestorer];
  return code.read(pc, bytes, sizeof bytes) && std::memcmp(bytes, kRestorer, sizeof bytes) == 0;
}

const LoadedModule* Unwinder::State::loaded_module(uint64_t address) noexcept {
  if (last_module && address >= last_module->start && address < last_module->end) return last_module;
  const LoadedModule* module = find_module(*snapshot, address);
  if (module) last_module = module;
  return module;
}

// Between an unload and the next refresh, the snapshot has a module that is no longer loaded, and another may
// be in its place.
const LoadedModule* Unwinder::State::verified_module(uint64_t address) noexcept {
  const LoadedModule* module = loaded_module(address);
  if (!module || module->build_id_bytes == 0) return module;
  uint8_t build_id[ImageDescription::kMaxBuildIdBytes];
  const bool same = safe_read(module->build_id_at, build_id, module->build_id_bytes) &&
                    std::memcmp(build_id, module->build_id, module->build_id_bytes) == 0;
  return same ? module : nullptr;
}

// Returns the rule of an address. Leaves the row in `live` if the module has an index instead of a table.
Rule Unwinder::State::rule_of(const LoadedModule& module, uint64_t address) noexcept {
  if (!module.table) return {};
  const uint64_t elf_address = address - module.load_bias;
  const CfiIndex* const index = module.table->index;
  if (!index) return lookup(*module.table, elf_address);
  return index->find(elf_address, row()) ? make_rule(live.machine.row(), live.cie.signal_frame) : Rule{};
}

// True if a call instruction precedes the address. Encodings of call: E8 rel32, or FF /2 with a ModRM byte
// and 0, 1, 2, 4 or 5 bytes after it (prefixes come before).
bool Unwinder::State::is_call_return(uint64_t address) noexcept {
  constexpr unsigned kLongest = 7;
  uint8_t bytes[kLongest];
  unsigned have = kLongest;
  // A mapping may start less than seven bytes before.
  while (have >= 2 && !code.read(address - have, bytes + kLongest - have, have)) --have;
  if (have < 2) return false;
  const auto at = [&](unsigned back) -> uint8_t {
    return back <= have ? bytes[kLongest - back] : uint8_t{0};
  };
  if (at(5) == 0xe8) return true;
  const auto is_indirect_call = [](uint8_t opcode, uint8_t modrm) {
    return opcode == 0xff && (modrm >> 3 & 7) == 2;
  };
  return is_indirect_call(at(2), at(1)) || is_indirect_call(at(3), at(2)) || is_indirect_call(at(4), at(3)) ||
         is_indirect_call(at(6), at(5)) || is_indirect_call(at(7), at(6));
}

bool Unwinder::State::is_plausible_return(uint64_t address) noexcept {
  // An address that is cached as a caller was checked before.
  if (cache.find(address - 1, (address - 1) | generation_tag)) return true;
  const LoadedModule* module = loaded_module(address);
  if (module && (address <= module->text_start || address > module->text_end)) return false;
  return is_call_return(address) || is_restorer(address);
}

Step Unwinder::State::resolve_at(uint64_t address) noexcept {
  bool executable = false;
  uncached.rule = Rule{};
  if (const LoadedModule* module = verified_module(address)) {
    uncached.key = make_frame(module->id, address - module->load_bias);
    executable = address >= module->text_start && address < module->text_end;
    uncached.rule = rule_of(*module, address);
  } else {
    LiveCode found;
    if (find_live_code(address, live, found)) {
      uncached.key = make_frame(found.module, address - found.load_bias);
      executable = found.executable;
      if (found.has_row) {
        uncached.rule = make_rule(live.machine.row(), found.signal_frame);
        if (uncached.rule.kind == RuleKind::Interpret) uncached.rule.flags |= kRuleLive;
      }
    } else {
      // No file backs the address: JIT code, or no code at all. A return address must follow a call.
      uncached.key = make_frame(kModuleNone, address);
      uint8_t byte;
      if (!exact && !code.read(address, &byte, 1)) return Step::failed(StackReason::BadReturnAddress);
      executable =
          exact || is_call_return(address + 1) || is_restorer(address + 1) || address + 1 == assumed_return;
      if (!executable) return Step::failed(StackReason::UnknownModule);
    }
  }
  if (uncached.rule.kind == RuleKind::None) {
    if (!executable && !exact) return Step::failed(StackReason::BadReturnAddress);
    if (!exact && is_restorer(address + 1)) {
      uncached.rule = kernel_frame_rule();
    } else {
      uncached.rule.kind = RuleKind::FramePointer;
    }
  }
  return {};
}

bool Unwinder::State::came_from_exception_runtime() const noexcept {
  return !exact && depth == 2 && snapshot->exception_runtime != kModuleNone &&
         frame_module(frames[0]) == snapshot->exception_runtime &&
         frame_module(frames[1]) == snapshot->exception_runtime;
}

// While libgcc installs the context of a handler (uw_install_context), it overwrites the return address of
// its own frame with one in the frame that handles the exception. During these few instructions, the stack
// does not show the call path. Returns true if the call before the return address goes to libgcc, or if its
// target is unknown. Otherwise the address was overwritten.
bool Unwinder::State::calls_exception_runtime(uint64_t return_address) noexcept {
  constexpr size_t kCallBytes = 6;
  uint8_t call[kCallBytes];
  uint8_t stub[12];
  int32_t distance;
  uint64_t target;
  if (!code.read(return_address - kCallBytes, call, kCallBytes)) return true;
  std::memcpy(&distance, call + kCallBytes - sizeof distance, sizeof distance);
  target = return_address + static_cast<uint64_t>(int64_t{distance});
  if (call[1] == 0xe8) {
    // Through the PLT: jmp *slot(%rip), possibly after an endbr64.
    if (!code.read(target, stub, sizeof stub)) return true;
    const size_t at = stub[0] == 0xf3 ? 4 : 0;
    if (stub[at] == 0xff && stub[at + 1] == 0x25) {
      std::memcpy(&distance, stub + at + 2, sizeof distance);
      if (!safe_load_word(target + at + 6 + static_cast<uint64_t>(int64_t{distance}), target)) return true;
    }
  } else if (call[0] != 0xff || call[1] != 0x15 || !safe_load_word(target, target)) {
    return true;  // a call with an unknown target
  }
  const LoadedModule* module = loaded_module(target);
  return module && module->id == snapshot->exception_runtime;
}

// Fills the cache entry of the address. An address whose code may be replaced stays in `uncached`.
Step Unwinder::State::resolve(uint64_t address, CachedCode*& found) noexcept {
  constexpr uint64_t kFunctionAlignment = 16;
  found = &uncached;
  if (is_too_long()) return Step::failed(StackReason::WalkTooLong);
  const Step resolved = resolve_at(address);
  // makecontext and similar functions push the address of a function as the return address. No call precedes
  // it, and the byte before belongs to another function. (glibc's signal restorer has call frame information
  // from one byte before its start.)
  const uint64_t return_address = address + 1;
  if (came_from_exception_runtime() && !calls_exception_runtime(return_address)) {
    return Step::failed(StackReason::BadReturnAddress);
  }
  if (!exact && return_address % kFunctionAlignment == 0 && !(uncached.rule.flags & kRuleSignalFrame) &&
      loaded_module(return_address) && !is_call_return(return_address)) {
    const Step at_entry = resolve_at(return_address);
    if (at_entry.kind != StepKind::Continue) return at_entry;
  } else if (resolved.kind != StepKind::Continue) {
    return resolved;
  }
  uncached.tag = address | generation_tag;
  const bool lasting = !exact || frame_module(uncached.key) != kModuleNone;
  // User addresses have 47 bits; others do not fit into a tag.
  if (lasting && address >> kModuleShift == 0) found = cache.keep(address, uncached);
  return {};
}

}  // namespace hpcrun

#include "hpcrun/device/context.h"

#include <sys/auxv.h>

#include <algorithm>
#include <atomic>
#include <cassert>

#include "hpcrun/device/engine.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

// Maximum number of an interface's frames between the function that the program called and ours.
constexpr uint32_t kMaxFramesInside = 16;

uint16_t module_of(const void* code) noexcept {
  return frame_module(frame_of(code));
}

uint16_t own_module() noexcept {
  static std::atomic<uint16_t> known{kModuleNone};
  uint16_t module = known.load(std::memory_order_relaxed);
  if (module == kModuleNone) {
    module = module_of(reinterpret_cast<const void*>(&context_of_call));
    known.store(module, std::memory_order_relaxed);
  }
  return module;
}

constexpr uint32_t kMaxLibraries = 4;
std::atomic<uint16_t> left_out[kMaxLibraries];

bool is_left_out(uint16_t module) noexcept {
  return std::ranges::any_of(left_out, [=](const std::atomic<uint16_t>& library) {
    return library.load(std::memory_order_relaxed) == module;
  });
}

// True for the program itself. An interface that is linked into it cannot be distinguished from its own code.
bool is_program(uint16_t module) noexcept {
  return module == module_of(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
}

uint32_t skip(const Stack& stack, uint32_t at, uint16_t module) noexcept {
  while (at < stack.depth && frame_module(stack.frames[at]) == module) ++at;
  return at;
}

uint32_t skip_libraries(const Stack& stack, uint32_t at) noexcept {
  while (at < stack.depth && frame_module(stack.frames[at]) != kModuleNone &&
         is_left_out(frame_module(stack.frames[at])))
    ++at;
  return at;
}

uint32_t skip_interface(const Stack& stack, uint32_t first, uint16_t module) noexcept {
  for (uint32_t at = first; at < std::min(stack.depth, first + kMaxFramesInside); ++at)
    if (frame_module(stack.frames[at]) == module) return skip(stack, at, module);
  return first;
}

}  // namespace

void leave_out_library(const void* code) noexcept {
  const uint16_t module = module_of(code);
  if (module == kModuleNone || is_program(module) || is_left_out(module)) return;
  for (std::atomic<uint16_t>& library : left_out) {
    uint16_t none = kModuleNone;
    // Cached paths have frames of this library.
    if (library.compare_exchange_strong(none, module, std::memory_order_relaxed))
      return invalidate_walk_caches();
  }
}

WalkOrigin origin_of(const ucontext_t& here) noexcept {
  const greg_t* const registers = here.uc_mcontext.gregs;
  return {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
          static_cast<uint64_t>(registers[REG_RBP])};
}

Stack context_of_call(ThreadState& thread, const ucontext_t& here, const void* function,
                      WalkRecord& record) noexcept {
  assert(thread.busy);
  const Stack stack = thread.unwinder.walk(here, record);
  // Skips frames of at least two functions: there is room for two.
  uint32_t first = skip_libraries(stack, skip(stack, 0, own_module()));
  const FrameKey called = function ? frame_of(function) : FrameKey{0};
  if (called && frame_module(called) != kModuleNone && !is_program(frame_module(called)))
    first = skip_interface(stack, first, frame_module(called));
  if (called && first > 1) stack.frames[--first] = called;
  return {stack.frames + first, stack.depth - first, stack.reason};
}

}  // namespace hpcrun

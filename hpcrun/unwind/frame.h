#pragma once
// Defines the elements of a call stack, shared by unwind, cct, measurement and analysis.

#include <cstdint>

namespace hpcrun {

// A frame is a code address within a load module. It is the interrupted instruction for the leaf and for a
// frame that a signal interrupted, and the return address minus one for every caller. Bits 63..48 hold the
// module id (modules.h). Bits 47..0 hold the address minus the module's load bias, which is the address in
// the ELF file. Module 0 is code that no file backs (JIT); its addresses are absolute.
using FrameKey = uint64_t;

constexpr unsigned kModuleShift = 48;
constexpr uint16_t kModuleNone = 0;
// A task that a device executed. The offset is the number of a name, given by a symbol record of the file.
constexpr uint16_t kModuleDevice = 0xffff;
constexpr uint32_t kMaxModules = kModuleDevice;

constexpr FrameKey make_frame(uint16_t module, uint64_t offset) {
  return (static_cast<FrameKey>(module) << kModuleShift) | (offset & ((uint64_t{1} << kModuleShift) - 1));
}
constexpr uint16_t frame_module(FrameKey key) {
  return static_cast<uint16_t>(key >> kModuleShift);
}
constexpr uint64_t frame_offset(FrameKey key) {
  return key & ((uint64_t{1} << kModuleShift) - 1);
}

// Deeper stacks are cut at the root end and classified as partial (StackReason::TooDeep).
constexpr uint32_t kMaxDepth = 8192;

// The way a walk ended. stack_class() maps each to a class. Values are part of the measurement file format:
// append only.
enum class StackReason : uint8_t {
  EndOfStack = 0,        // the CFI marks the return address undefined (_start, clone): complete
  ThreadStart = 1,       // reached the thread's start routine or main's caller by other means: complete
  TooDeep = 2,           // more than kMaxDepth frames: partial
  ForeignStack = 3,      // walked a coroutine or hand-made stack to its zeroed bottom: complete
  JitFramePointer = 4,   // passed through code without CFI by frame pointers and reached the end: complete
  NoUnwindInfo = 5,      // a module without CFI for this address, frame pointer not plausible: partial
  UnknownModule = 6,     // an address in no module and no plausible frame pointer: broken
  UnreadableStack = 7,   // a load from the stack failed: broken
  BadReturnAddress = 8,  // the return address does not point to code after a call: broken
  NoProgress = 9,        // the CFA did not move up: broken
  Unsupported = 10,  // an expression that tables cannot hold and that could not be evaluated either: partial
  StackCut = 11,     // beyond the piece of stack that was recorded with the sample: partial
  GeneratedCode = 12,  // code from a JIT compiler that keeps no frame pointer: partial
  SearchedLeaf = 13,   // the caller of a leaf without CFI was found by searching its frame: complete
  ChainCut = 14,       // the kernel's limit on callers was reached (kernel.perf_event_max_stack): partial
  WalkTooLong = 15,    // the walk needed too many reads of code or stack: partial
  Count
};

enum class StackClass : uint8_t { Complete, Partial, Broken };

constexpr StackClass stack_class(StackReason reason) {
  switch (reason) {
    case StackReason::EndOfStack:
    case StackReason::ThreadStart:
    case StackReason::ForeignStack:
    case StackReason::JitFramePointer:
    case StackReason::SearchedLeaf:
      return StackClass::Complete;
    case StackReason::TooDeep:
    case StackReason::NoUnwindInfo:
    case StackReason::Unsupported:
    case StackReason::StackCut:
    case StackReason::ChainCut:
    case StackReason::WalkTooLong:
    case StackReason::GeneratedCode:
      return StackClass::Partial;
    default:
      return StackClass::Broken;
  }
}

}  // namespace hpcrun

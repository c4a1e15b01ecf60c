#include "prof/attach/return_frame.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace prof {

namespace {

// A 64-bit signal frame as Linux lays it out (arch/x86/include/asm/sigframe.h). The C library's ucontext_t
// begins with the kernel's fields, and has its mask at the same offset.
struct Frame {
  uint64_t return_to;
  ucontext_t context;
};
static_assert(offsetof(Frame, context) == 8);

constexpr uint64_t kRedZone = 128;
constexpr uint64_t kVectorAlignment = 64;
constexpr uint64_t kHasExtendedState = 1;    // UC_FP_XSTATE
constexpr uint64_t kHasStackSegment = 6;     // UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS
constexpr int kNoStackMode = 0x7777;         // ignored by the kernel: the alternate stack stays
constexpr uint32_t kBeginMark = 0x46505853;  // FP_XSTATE_MAGIC1
constexpr uint32_t kEndMark = 0x46505845;    // FP_XSTATE_MAGIC2

// The bytes of a frame's vector registers that software may use, at this offset (uapi/asm/sigcontext.h).
struct SoftwareBytes {
  uint32_t mark;
  uint32_t bytes_with_mark;
  uint64_t features;
  uint32_t bytes;
  uint32_t padding[7];
};
constexpr size_t kSoftwareBytesAt = 464;
constexpr size_t kLegacyBytes = 512;

SoftwareBytes own_software_bytes{};

void note_own_layout(int, siginfo_t*, void* raw) {
  const auto* const state = reinterpret_cast<const char*>(static_cast<ucontext_t*>(raw)->uc_mcontext.fpregs);
  if (state) std::memcpy(&own_software_bytes, state + kSoftwareBytesAt, sizeof own_software_bytes);
}

// Returns how the kernel lays out vector registers in signal frames on this machine. The layout is read from
// a frame of prof's own.
const SoftwareBytes& frame_layout() {
  static const bool found = [] {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_sigaction = note_own_layout;
    action.sa_flags = SA_SIGINFO;
    sigset_t signal;
    sigset_t blocked;
    sigemptyset(&signal);
    sigaddset(&signal, SIGURG);
    sigaction(SIGURG, &action, &before);
    pthread_sigmask(SIG_UNBLOCK, &signal, &blocked);
    raise(SIGURG);
    pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
    sigaction(SIGURG, &before, nullptr);
    return true;
  }();
  static_cast<void>(found);
  return own_software_bytes;
}

std::vector<char> framed_vector_registers(const std::vector<char>& registers) {
  const SoftwareBytes& layout = frame_layout();
  std::vector<char> framed = registers;
  if (layout.mark != kBeginMark || layout.bytes > registers.size() || layout.bytes < kLegacyBytes) {
    framed.resize(kLegacyBytes);
    std::memset(framed.data() + kSoftwareBytesAt, 0, sizeof layout);
    return framed;
  }
  framed.resize(layout.bytes + sizeof kEndMark);
  std::memcpy(framed.data() + kSoftwareBytesAt, &layout, sizeof layout);
  std::memcpy(framed.data() + layout.bytes, &kEndMark, sizeof kEndMark);
  return framed;
}

}  // namespace

ReturnFrame make_return_frame(const ReturnContext& context, uint64_t restorer) {
  const std::vector<char> vectors = framed_vector_registers(context.vector_registers);
  const user_regs_struct& from = context.registers;
  const uint64_t vectors_at = (from.rsp - kRedZone - vectors.size()) / kVectorAlignment * kVectorAlignment;
  ReturnFrame made;
  made.at = (vectors_at - sizeof(Frame)) / 16 * 16 - 8;  // as after a call
  Frame frame{};
  frame.return_to = restorer;
  ucontext_t& to = frame.context;
  to.uc_flags = kHasStackSegment | (vectors.size() > kLegacyBytes ? kHasExtendedState : 0);
  to.uc_stack.ss_flags = kNoStackMode;
  std::memcpy(&to.uc_sigmask, &context.mask, sizeof context.mask);
  greg_t* const registers = to.uc_mcontext.gregs;
  const auto set = [&](int place, uint64_t value) { registers[place] = static_cast<greg_t>(value); };
  set(REG_R8, from.r8);
  set(REG_R9, from.r9);
  set(REG_R10, from.r10);
  set(REG_R11, from.r11);
  set(REG_R12, from.r12);
  set(REG_R13, from.r13);
  set(REG_R14, from.r14);
  set(REG_R15, from.r15);
  set(REG_RDI, from.rdi);
  set(REG_RSI, from.rsi);
  set(REG_RBP, from.rbp);
  set(REG_RBX, from.rbx);
  set(REG_RDX, from.rdx);
  set(REG_RAX, from.rax);
  set(REG_RCX, from.rcx);
  set(REG_RSP, from.rsp);
  set(REG_RIP, from.rip);
  set(REG_EFL, from.eflags);
  set(REG_CSGSFS, (from.cs & 0xffff) | (from.ss & 0xffff) << 48);
  uint64_t at = vectors_at;
  std::memcpy(&to.uc_mcontext.fpregs, &at, sizeof at);
  made.bytes.resize(vectors_at - made.at + vectors.size());
  std::memcpy(made.bytes.data(), &frame, sizeof frame);
  std::memcpy(made.bytes.data() + (vectors_at - made.at), vectors.data(), vectors.size());
  return made;
}

}  // namespace prof

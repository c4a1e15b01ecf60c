#include "repair/isolate/controller/polled_pages.h"

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/model/access_plan.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/known_pages.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

// State for following instructions, kept off the stack, because handlers may have only 8 KiB of it. One per
// thread, because a converted thread shares static data with all others.
struct Following {
  PlanWorkspace workspace;
  AccessPlan plan;
  Access accesses[kMaxPlannedAccesses];
};
thread_local constinit Following following __attribute__((tls_model("initial-exec"))) = {};

// Returns how many bytes were read: all, or those on the first page, because code may end there.
size_t read_memory(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  if (safe_read(address, to, bytes)) return bytes;
  const size_t on_page = kPageBytes - address % kPageBytes;
  return on_page < bytes && safe_read(address, to, on_page) ? on_page : 0;
}

MachineState state_of(const ucontext_t& context) noexcept {
  constexpr int kRegisters[kGeneralRegisters] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15};
  MachineState state{};
  for (uint8_t i = 0; i < kGeneralRegisters; ++i)
    state.general[i] = static_cast<uint64_t>(context.uc_mcontext.gregs[kRegisters[i]]);
  state.fs_base = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  return state;
}

}  // namespace

void share_polled_pages(PrivatePages& pages, const ucontext_t& interrupted) noexcept {
  if (!pages.is_outdated()) return;
  const MemoryReader memory{read_memory, nullptr};
  const auto pc = static_cast<uint64_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  plan_accesses(pc, pc, memory, following.workspace, following.plan);
  const uint32_t count = apply_plan(following.plan, state_of(interrupted), memory, following.accesses);
  bool has_shared = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Access& access = following.accesses[i];
    if (!reads(access.kind) || !pages.is_outdated(access.address, access.bytes)) continue;
    share_own_page(pages, access.address, static_cast<uint64_t>(WhyShared::TrueSharing));
    has_shared = true;
  }
  if (!has_shared) return;
  page_news.fetch_add(1);
  wake_all(page_news);
}

}  // namespace hpcrun

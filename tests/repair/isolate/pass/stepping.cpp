#include "tests/repair/isolate/pass/stepping.h"

#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>

#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/pages/scan.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/wait_word.h"
#include "tests/repair/isolate/pass/isolated_pages.h"
#include "tests/repair/isolate/pass/stepping_action.h"

#define EXPORT __attribute__((visibility("default")))

using namespace hpcrun;

extern "C" {
void stepping_resume() noexcept;
void stepping_go_on() noexcept;
// From repair/isolate/preload/regions.cpp: busy with the private pages almost from start to end.
void hpcrun_commit() noexcept;
void hpcrun_region_begin() noexcept;
void hpcrun_region_end() noexcept;
__attribute__((visibility("hidden"))) uint64_t stepping_returns_to = 0;
}

// stepping_resume sets the trap flag and continues at the call of the skipped function. stepping_go_on() sets
// it for its caller.
__asm__(R"(
  .text
  .globl stepping_resume
  .hidden stepping_resume
stepping_resume:
  pushq stepping_returns_to(%rip)
  pushfq
  orq $0x100, (%rsp)
  popfq
  ret
  .globl stepping_go_on
  .hidden stepping_go_on
stepping_go_on:
  pushfq
  orq $0x100, (%rsp)
  popfq
  ret
)");

namespace {

constexpr uint64_t kTrapFlag = 0x100;

// For the one thread that is stepped; in common memory, like everything that converted threads share.
const void* wanted_pages = nullptr;
uint64_t wanted_bytes = 0;
SteppingPlan plan;
uint64_t places = 0;
bool has_other_run = false;
bool works_on_pages = false;  // in one of the functions above
struct Code {
  uint64_t low = 0, high = 0;
  bool has(uint64_t at) const noexcept { return at >= low && at < high; }
};
Code program, library;

enum class Turn : uint32_t { First, Other, Over };
std::atomic<Turn> turn{Turn::First};

void wait_until(Turn wanted) noexcept {
  for (Turn now; (now = turn.load(std::memory_order_acquire)) != wanted && now != Turn::Over;)
    wait_while(turn, now, kLongWaitNs);
}
void pass_turn(Turn to) noexcept {
  turn.store(to, std::memory_order_release);
  wake_all(turn);
}

void run_other() noexcept {
  has_other_run = true;
  pass_turn(Turn::Other);
  wait_until(Turn::First);
}

int find_code(dl_phdr_info* module, size_t, void*) {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_X)) continue;
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    const Code code{low, low + header.p_memsz};
    if (!program.high) program = code;  // the first module is the program
    if (code.has(reinterpret_cast<uint64_t>(find_code))) library = code;
  }
  return 0;
}

void inject(ucontext_t& context) noexcept {
  switch (plan.injects) {
    case kSteppingNothing:
      return;
    case kSteppingCommit:
      return commit_own_pages();
    case kSteppingGiveBack:
      // As a request that arrives now would.
      if (own_pages && own_pages->is_busy()) return;
      return set_mask_bits(context.uc_sigmask, give_back_in_handler(Leaving::Asked));
    case kSteppingConvert:
      if (is_in_region()) return;
      set_mask_bits(context.uc_sigmask, convert_in_handler(mask_bits(context.uc_sigmask)));
  }
}

bool is_looked_at(uint64_t at) noexcept {
  return program.has(at) || (plan.counts_library && library.has(at));
}

// Functions that scan a page for what has to be merged, in many steps.
template <Stores... stores>
bool is_scan(uint64_t at) noexcept {
  return ((at == reinterpret_cast<uint64_t>(&next_to_merge<stores>) ||
           at == reinterpret_cast<uint64_t>(&next_to_merge_wide<stores>) ||
           at == reinterpret_cast<uint64_t>(&next_to_merge_widest<stores>)) ||
          ...);
}

// True for called code elsewhere, of which no instruction is a place.
bool is_skipped(uint64_t at, uint64_t returns_to) noexcept {
  return is_scan<Stores::Own, Stores::Others, Stores::All>(at) ||
         (!is_looked_at(at) && is_looked_at(returns_to));
}

// Ends the stepping.
void run_on(ucontext_t& context) noexcept {
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
}

// Runs a function that has just been called as a whole: it returns to stepping_resume.
void skip(ucontext_t& context) noexcept {
  auto* const top = reinterpret_cast<uint64_t*>(context.uc_mcontext.gregs[REG_RSP]);
  stepping_returns_to = *top;
  *top = reinterpret_cast<uint64_t>(&stepping_resume);
  run_on(context);
}

// The processor traps after each element that a string instruction copies or fills, 512 times per page. All
// elements but the last one are processed here, because the steps between them are not places: the private
// pages are being worked on. No string instruction goes backwards.
void hurry_on(ucontext_t& context) noexcept {
  auto& registers = context.uc_mcontext.gregs;
  const auto* const code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  constexpr uint8_t kRepeats = 0xf3, kWide = 0x48, kMoveBytes = 0xa4, kMove = 0xa5, kStore = 0xab;
  if (code[0] != kRepeats || registers[REG_RCX] < 2) return;
  const bool is_wide = code[1] == kWide;
  const uint8_t operation = code[is_wide ? 2 : 1];
  const auto count = static_cast<size_t>(registers[REG_RCX]) - 1;
  auto* const to = reinterpret_cast<char*>(registers[REG_RDI]);
  const size_t width = operation == kMoveBytes ? 1 : is_wide ? 8 : 4;
  if (operation == kMoveBytes || operation == kMove) {
    memcpy(to, reinterpret_cast<const void*>(registers[REG_RSI]), count * width);
    registers[REG_RSI] += static_cast<greg_t>(count * width);
  } else if (operation == kStore) {
    for (size_t i = 0; i < count; ++i) memcpy(to + i * width, &registers[REG_RAX], width);
  } else {
    return;
  }
  registers[REG_RDI] += static_cast<greg_t>(count * width);
  registers[REG_RCX] = 1;
}

void on_step(int, siginfo_t*, void* raw) noexcept {
  auto& context = *static_cast<ucontext_t*>(raw);
  const auto at = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (library.has(at)) hurry_on(context);
  const bool is_busy = own_pages && own_pages->is_busy();
  if (program.has(at)) works_on_pages = false;
  works_on_pages |= at == reinterpret_cast<uint64_t>(&hpcrun_commit) ||
                    at == reinterpret_cast<uint64_t>(&hpcrun_region_begin) ||
                    at == reinterpret_cast<uint64_t>(&hpcrun_region_end);
  // Skips thousands of steps that are not places.
  if (is_busy && works_on_pages && places > 0) {
    own_pages->is_busy_until(stepping_go_on);
    return run_on(context);
  }
  if (places > 0 && is_skipped(at, *reinterpret_cast<uint64_t*>(context.uc_mcontext.gregs[REG_RSP])))
    return skip(context);
  if (!program.has(at) && (!is_looked_at(at) || is_busy || places == 0)) return;
  ++places;
  if (places == plan.inject_at) inject(context);
  if (places == plan.other_at) run_other();
  const uint64_t last = std::max(plan.inject_at, plan.other_at);
  if (last > 0 && places >= last) run_on(context);
}

__attribute__((always_inline)) inline void step_from_here() noexcept {
  asm volatile("pushfq\n orq %0, (%%rsp)\n popfq" : : "i"(kTrapFlag) : "memory", "cc");
}
__attribute__((always_inline)) inline void step_no_more() noexcept {
  asm volatile("pushfq\n andq %0, (%%rsp)\n popfq"
               :
               : "i"(~static_cast<int64_t>(kTrapFlag))
               : "memory", "cc");
}

}  // namespace

namespace hpcrun::test {

void take_steps_here() noexcept {
  if (!wanted_bytes) return;
  KernelAction action;
  action.handler = reinterpret_cast<void*>(on_step);
  action.flags = SA_SIGINFO | kRestorerFlag;
  action.restorer = reinterpret_cast<void*>(hpcrun_signal_return);
  action.mask = kAllSignals & ~kFaultSignals & ~signal_bit(SIGSYS);
  kernel_action(SIGTRAP, &action, nullptr);
}

}  // namespace hpcrun::test

extern "C" {

EXPORT void stepping_begin(const void* address, uint64_t bytes) {
  wanted_pages = address;
  wanted_bytes = bytes;
  dl_iterate_phdr(find_code, nullptr);
  test::take_steps_here();
}

EXPORT uint64_t stepping_run(void (*part)(), const SteppingPlan* wanted) {
  plan = *wanted;
  places = 0;
  has_other_run = works_on_pages = false;
  if (plan.injects == kSteppingConvert) {
    isolated_pages_leave();
    isolated_pages_want(wanted_pages, wanted_bytes);
  } else {
    isolated_pages_take(wanted_pages, wanted_bytes);
  }
  step_from_here();
  part();
  step_no_more();
  if (!has_other_run) run_other();
  commit_own_pages();
  return places;
}

EXPORT void stepping_serve(void (*part)()) {
  for (;;) {
    wait_until(Turn::Other);
    if (turn.load() == Turn::Over) return;
    part();
    commit_own_pages();
    pass_turn(Turn::First);
  }
}

EXPORT void stepping_end() {
  pass_turn(Turn::Over);
}
}

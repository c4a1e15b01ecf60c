#include "work.h"

#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <cstdarg>
#include <memory>

#include "library.h"

namespace ground_truth {

thread_local ThreadTruth thread_truth;

const char* const kFunctionSymbols[kFunctionCount] = {"",
#define X(name) "gt_" #name,
                                                      GROUND_TRUTH_FUNCTIONS(X)
#undef X
};

namespace {

uint64_t mix(uint64_t value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

GROUND_TRUTH_FUNCTION uint64_t gt_leaf(Shadow& shadow, uint64_t value) {
  enter(shadow);
  return mix(value, 30);
}

GROUND_TRUTH_FUNCTION uint64_t gt_odd(Shadow& shadow, uint64_t value, uint32_t depth);

// The recursion alternates between two functions; each level has work of its own before and after the call.
GROUND_TRUTH_FUNCTION uint64_t gt_even(Shadow& shadow, uint64_t value, uint32_t depth) {
  enter(shadow);
  value = mix(value, 5);
  if (depth == 0) {
    for (int i = 0; i < 50; ++i) {
      const Call call(shadow, k_leaf);
      value ^= gt_leaf(shadow, value);
    }
    return value;
  }
  uint64_t below;
  {
    const Call call(shadow, k_odd);
    below = gt_odd(shadow, value, depth - 1);
  }
  return below ^ mix(value, 3);
}

GROUND_TRUTH_FUNCTION uint64_t gt_odd(Shadow& shadow, uint64_t value, uint32_t depth) {
  enter(shadow);
  uint64_t spill[5] = {value, value + depth, value ^ depth, value * 3, value - depth};
  for (uint64_t& word : spill) word = mix(word, 2);
  if (depth == 0) return spill[0] ^ spill[4];
  const Call call(shadow, k_even);
  return gt_even(shadow, spill[depth % 5], depth - 1) + spill[(depth + 1) % 5];
}

GROUND_TRUTH_FUNCTION uint64_t gt_tail_third(Shadow& shadow, uint64_t value) {
  enter(shadow);
  value = mix(value, 20);
  hand_on(shadow, k_tail_third, k_library_tail);
  return gt_library_tail(shadow, value);
}
GROUND_TRUTH_FUNCTION uint64_t gt_tail_second(Shadow& shadow, uint64_t value) {
  enter(shadow);
  uint64_t words[4] = {value, value + 1, value + 2, value + 3};
  for (uint64_t& word : words) word = mix(word, 4);
  value = words[value % 4];
  hand_on(shadow, k_tail_second, k_tail_third);
  return gt_tail_third(shadow, value);
}
GROUND_TRUTH_FUNCTION uint64_t gt_tail_first(Shadow& shadow, uint64_t value) {
  enter(shadow);
  value = mix(value, 20);
  hand_on(shadow, k_tail_first, k_tail_second);
  return gt_tail_second(shadow, value);
}

GROUND_TRUTH_FUNCTION int gt_compare(const void* a, const void* b) {
  const Self self(*thread_truth.current, k_compare);
  const uint64_t left = mix(*static_cast<const uint64_t*>(a), 3);
  const uint64_t right = mix(*static_cast<const uint64_t*>(b), 3);
  return left < right ? -1 : left > right;
}
GROUND_TRUTH_FUNCTION uint64_t gt_sorter(Shadow& shadow, uint64_t value) {
  enter(shadow);
  uint64_t values[64];
  for (uint64_t& word : values) word = value = mix(value, 1);
  qsort(values, 64, sizeof values[0], gt_compare);
  return values[11];
}

GROUND_TRUTH_FUNCTION uint64_t gt_thrower(Shadow& shadow, uint64_t value, uint32_t depth);

GROUND_TRUTH_FUNCTION uint64_t gt_catcher(Shadow& shadow, uint64_t value, uint32_t depth) {
  enter(shadow);
  try {
    const Call call(shadow, k_thrower);
    value ^= gt_thrower(shadow, value, depth);
  } catch (uint64_t thrown) {
    value += thrown;
  }
  return mix(value, 5);
}
GROUND_TRUTH_FUNCTION uint64_t gt_thrower(Shadow& shadow, uint64_t value, uint32_t depth) {
  enter(shadow);
  const std::unique_ptr<uint64_t> held(new uint64_t(mix(value, 5)));  // a clean-up during unwinding
  if (depth == 0) throw *held;
  if (depth % 2 == 0) {
    const Call call(shadow, k_catcher);
    return gt_catcher(shadow, *held, depth - 1);
  }
  const Call call(shadow, k_rethrow_path);
  extern uint64_t gt_rethrow_path(Shadow&, uint64_t, uint32_t) asm("gt_rethrow_path");
  return gt_rethrow_path(shadow, *held, depth - 1) + 1;
}

GROUND_TRUTH_FUNCTION uint64_t gt_rethrow_path(Shadow& shadow, uint64_t value, uint32_t depth) {
  enter(shadow);
  const Call call(shadow, k_thrower);
  return gt_thrower(shadow, value, depth) ^ mix(value, 2);
}

GROUND_TRUTH_FUNCTION uint64_t gt_raiser(Shadow& shadow, uint64_t value, int signal, uint32_t depth);

// Nested: the handler recurses, raises the other signal from there, and so on.
GROUND_TRUTH_FUNCTION void gt_on_signal(int signal, siginfo_t*, void*) {
  Shadow& shadow = *thread_truth.current;
  const Self self(shadow, k_on_signal);
  const uint64_t nesting = thread_truth.work % 3;
  thread_truth.work = thread_truth.work + 1;
  uint64_t value = mix(nesting, 20);
  {
    const Call call(shadow, k_even);
    value ^= gt_even(shadow, value, 6);
  }
  if (nesting != 2) {
    const Call call(shadow, k_raiser);
    value ^= gt_raiser(shadow, value, signal == SIGUSR1 ? SIGUSR2 : SIGUSR1, 2);
  }
  thread_truth.work = thread_truth.work + (value == 0 ? 3 : 0);
}
GROUND_TRUTH_FUNCTION uint64_t gt_raiser(Shadow& shadow, uint64_t value, int signal, uint32_t depth) {
  enter(shadow);
  if (depth == 0) {
    raise(signal);
    return mix(value, 10);
  }
  const Call call(shadow, k_with_alloca);
  extern uint64_t gt_with_alloca(Shadow&, uint64_t, uint32_t, int) asm("gt_with_alloca");
  return gt_with_alloca(shadow, value, depth - 1, signal) ^ value;
}

GROUND_TRUTH_FUNCTION uint64_t gt_with_alloca(Shadow& shadow, uint64_t value, uint32_t depth, int signal) {
  enter(shadow);
  const size_t words = 1 + value % 50;
  auto* block = static_cast<uint64_t*>(alloca(words * sizeof(uint64_t)));
  for (size_t i = 0; i < words; ++i) block[i] = value + i;
  if (signal != 0) {
    const Call call(shadow, k_raiser);
    return gt_raiser(shadow, block[value % words], signal, depth);
  }
  for (int i = 0; i < 5; ++i) {
    const Call call(shadow, k_leaf);
    block[0] ^= gt_leaf(shadow, block[words - 1]);
  }
  return block[0];
}

// Its first instruction traps, so the interrupted frame is at the very start of its function, where the
// previous byte belongs to another function. The handler steps over it (ud2 has two bytes).
asm(R"(
  .text
  .p2align 4
  .globl gt_trap
  .type gt_trap, @function
gt_trap:
  .cfi_startproc
  ud2
  movb $0, 4(%rdi)
  lea 1(%rsi), %rax
  ret
  .cfi_endproc
  .size gt_trap, .-gt_trap
)");
extern "C" uint64_t gt_trap(Shadow& shadow, uint64_t value);
static_assert(__builtin_offsetof(Shadow, phase) == 4 && static_cast<int>(Phase::Running) == 0);

GROUND_TRUTH_FUNCTION void gt_on_trap(int, siginfo_t*, void* context) {
  // The trapped function has been entered, but its own record of that comes after the trap.
  Shadow& shadow = *thread_truth.current;
  const Self self(shadow, k_on_trap);
  enter(shadow);
  auto& gregs = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  uint64_t value = static_cast<uint64_t>(gregs[REG_RSI]);
  for (int i = 0; i < 5; ++i) {
    const Call call(shadow, k_leaf);
    value = gt_leaf(shadow, value);
  }
  gregs[REG_RSI] = static_cast<greg_t>(value);
  gregs[REG_RIP] += 2;
}

GROUND_TRUTH_FUNCTION uint64_t gt_realigned(Shadow& shadow, uint64_t value) {
  enter(shadow);
  alignas(64) uint64_t block[16];
  for (uint64_t& word : block) word = value = mix(value, 1);
  asm volatile("" : : "r"(block) : "memory");
  for (int i = 0; i < 4; ++i) {
    const Call call(shadow, k_leaf);
    block[i] ^= gt_leaf(shadow, block[15 - i]);
  }
  return block[value % 16];
}
GROUND_TRUTH_FUNCTION uint64_t gt_realigned_alloca(Shadow& shadow, uint64_t value) {
  enter(shadow);
  alignas(128) uint64_t block[8];
  auto* extra = static_cast<uint64_t*>(alloca(64 + value % 512));
  for (uint64_t& word : block) word = value = mix(value, 1);
  extra[0] = value;
  asm volatile("" : : "r"(block), "r"(extra) : "memory");
  {
    const Call call(shadow, k_realigned);
    extra[0] ^= gt_realigned(shadow, block[3]);
  }
  return extra[0] + block[value % 8];
}
GROUND_TRUTH_FUNCTION __attribute__((force_align_arg_pointer)) uint64_t gt_force_aligned(Shadow& shadow,
                                                                                         uint64_t value) {
  enter(shadow);
  value = mix(value, 10);
  const Call call(shadow, k_realigned_alloca);
  return gt_realigned_alloca(shadow, value) + 1;
}

GROUND_TRUTH_FUNCTION uint64_t gt_sum_varargs(Shadow* shadow, int count, ...) {
  enter(*shadow);
  va_list arguments;
  va_start(arguments, count);
  uint64_t sum = 0;
  double scale = 1;
  for (int i = 0; i < count; ++i) {
    sum += mix(va_arg(arguments, uint64_t), 5);
    scale += va_arg(arguments, double);
  }
  va_end(arguments);
  return sum + static_cast<uint64_t>(scale);
}
GROUND_TRUTH_FUNCTION uint64_t gt_with_varargs(Shadow& shadow, uint64_t value) {
  enter(shadow);
  const Call call(shadow, k_sum_varargs);
  return gt_sum_varargs(&shadow, 6, value, 1.5, value + 1, 2.5, value + 2, 0.5, value + 3, 1.0, value + 4,
                        2.0, value + 5, 3.0) +
         1;
}

GROUND_TRUTH_FUNCTION uint64_t gt_visit(Shadow& shadow, uint64_t value) {
  const Self self(shadow, k_visit);
  const Call call(shadow, k_leaf);
  return gt_leaf(shadow, value) + 1;
}

struct Coroutine {
  static constexpr size_t kStackBytes = 256 * 1024;
  ucontext_t context{};
  ucontext_t back{};
  Shadow shadow;
  uint64_t value = 1;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
};
thread_local Coroutine* running_coroutine;

// The current stack is not known between here and the return.
GROUND_TRUTH_FUNCTION void gt_switch_context(Shadow& from, Shadow& to, ucontext_t& save,
                                             const ucontext_t& go) {
  enter(from);
  from.switching = true;
  to.switching = true;
  thread_truth.current = &to;
  swapcontext(&save, &go);
  from.switching = false;
}

GROUND_TRUTH_FUNCTION void gt_coroutine_body() {
  Coroutine& me = *running_coroutine;
  Shadow* const home = reinterpret_cast<Shadow*>(me.context.uc_link);
  me.shadow.switching = false;
  for (;;) {
    for (int i = 0; i < 10; ++i) {
      const Call call(me.shadow, k_even);
      me.value ^= gt_even(me.shadow, me.value, 20);
    }
    const Call call(me.shadow, k_switch_context);
    gt_switch_context(me.shadow, *home, me.context, me.back);
  }
}

namespace {

void prepare(Coroutine& coroutine, Shadow& home) {
  getcontext(&coroutine.context);
  coroutine.context.uc_stack.ss_sp = coroutine.stack.get();
  coroutine.context.uc_stack.ss_size = Coroutine::kStackBytes;
  // The body never returns, so this slot only carries the home shadow to it.
  coroutine.context.uc_link = reinterpret_cast<ucontext_t*>(&home);
  makecontext(&coroutine.context, reinterpret_cast<void (*)()>(gt_coroutine_body), 0);
  coroutine.shadow.ids[0] = k_coroutine_body;
  coroutine.shadow.depth = 1;
}

}  // namespace

GROUND_TRUTH_FUNCTION uint64_t gt_run(Shadow& shadow, uint64_t nanoseconds) {
  enter(shadow);
  const std::unique_ptr<Coroutine> coroutine(new Coroutine);
  prepare(*coroutine, shadow);
  uint64_t value = 1;
  const auto repeat = [&](Scenario scenario, int rounds, auto&& once) {
    thread_truth.scenario = scenario;
    for (int i = 0; i < rounds; ++i) once();
  };
  for (const uint64_t end = now() + nanoseconds; now() < end;) {
    repeat(Scenario::Recursion250, 40, [&] {
      const Call call(shadow, k_even);
      value ^= gt_even(shadow, value, 250);
    });
    repeat(Scenario::Recursion2000, 4, [&] {
      const Call call(shadow, k_even);
      value ^= gt_even(shadow, value, 2000);
    });
    repeat(Scenario::TailCalls, 4000, [&] {
      const Call call(shadow, k_tail_first);
      value ^= gt_tail_first(shadow, value);
    });
    repeat(Scenario::Plt, 4000, [&] {
      const Call call(shadow, k_library_entry);
      value ^= gt_library_entry(shadow, value, 1);
    });
    repeat(Scenario::Sort, 40, [&] {
      const Call call(shadow, k_sorter);
      value ^= gt_sorter(shadow, value);
    });
    repeat(Scenario::Exceptions, 20, [&] {
      const Call call(shadow, k_catcher);
      value ^= gt_catcher(shadow, value, 9);
    });
    repeat(Scenario::Signals, 60, [&] {
      thread_truth.work = 0;
      const Call call(shadow, k_raiser);
      value ^= gt_raiser(shadow, value, SIGUSR1, 2);
    });
    repeat(Scenario::Alloca, 1000, [&] {
      const Call call(shadow, k_with_alloca);
      value ^= gt_with_alloca(shadow, value, 0, 0);
    });
    repeat(Scenario::Realigned, 1000, [&] {
      const Call call(shadow, k_force_aligned);
      value ^= gt_force_aligned(shadow, value);
    });
    repeat(Scenario::Varargs, 4000, [&] {
      const Call call(shadow, k_with_varargs);
      value ^= gt_with_varargs(shadow, value);
    });
    repeat(Scenario::StrippedLibrary, 200, [&] {
      {
        const Call call(shadow, k_library_entry);
        value ^= gt_library_entry(shadow, value, 20);
      }
      const Call call(shadow, k_foreach);
      value ^= gt_foreach(shadow, value, gt_visit);
    });
    repeat(Scenario::Traps, 200, [&] {
      const Call call(shadow, k_trap);
      value ^= gt_trap(shadow, value);
    });
    repeat(Scenario::Coroutines, 20, [&] {
      running_coroutine = coroutine.get();
      const Call call(shadow, k_switch_context);
      gt_switch_context(shadow, coroutine->shadow, coroutine->back, coroutine->context);
    });
  }
  return value;
}

void install_handlers() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  action.sa_sigaction = gt_on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_flags |= SA_ONSTACK;
  action.sa_sigaction = gt_on_trap;
  sigaction(SIGILL, &action, nullptr);
}

uint64_t work_for(uint64_t nanoseconds) {
  constexpr size_t kAlternateBytes = 64 * 1024;
  const std::unique_ptr<char[]> alternate(new char[kAlternateBytes]);
  stack_t stack{};
  stack_t before{};
  stack.ss_sp = alternate.get();
  stack.ss_size = kAlternateBytes;
  sigaltstack(&stack, &before);
  Shadow& shadow = *thread_truth.current;
  uint64_t value;
  {
    const Call call(shadow, k_run);
    value = gt_run(shadow, nanoseconds);
  }
  sigaltstack(&before, nullptr);
  return value;
}

}  // namespace ground_truth

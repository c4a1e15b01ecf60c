// Walks at arbitrary instructions, compared with the program's own shadow stack.
#include <catch2/catch.hpp>

#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "samples/ground_truth/work.h"
#include "tests/unwind/function_map.h"
#include "tests/unwind/thread_sampler.h"

namespace {

using namespace ground_truth;
using prof_test::FunctionMap;
using prof_test::ThreadTimer;
using prof_test::ThreadWalker;

constexpr long kPeriodNs = 250'000;
constexpr uint64_t kWantedSamples = 12'000;
const int kSignal = SIGRTMIN + 3;

const char* const kScenarioNames[] = {
    "recursion to 250", "recursion to 2000", "tail calls", "PLT calls",        "qsort callbacks",
    "exceptions",       "signals",           "alloca",     "realigned stacks", "varargs",
    "coroutines",       "stripped library",  "traps"};
static_assert(std::size(kScenarioNames) == static_cast<size_t>(Scenario::Count));

struct CodeMap {
  FunctionMap functions;
  uint64_t load_bias = 0;
  std::atomic<uint16_t> module{0};
};
CodeMap program_code;
CodeMap library_code;

struct Counts {
  uint64_t equal = 0;
  uint64_t different = 0;
  uint64_t unknown = 0;  // the program's path is not known: it was switching stacks
};

struct Disagreement {
  static constexpr uint32_t kKept = 24;
  Scenario scenario;
  hpcrun::StackReason reason;
  uint64_t pc = 0;
  uint32_t walked_depth = 0;
  uint32_t true_depth = 0;
  uint16_t walked[kKept];
  uint64_t walked_keys[kKept];
  uint16_t truth[kKept];
};

struct ThreadRecord {
  static constexpr size_t kKept = 8;
  ThreadWalker walker;
  Counts counts[static_cast<size_t>(Scenario::Count)];
  uint64_t reasons[static_cast<size_t>(hpcrun::StackReason::Count)] = {};
  volatile uint64_t samples = 0;
  size_t disagreements = 0;
  Disagreement kept[kKept];
};

thread_local ThreadRecord* record __attribute__((tls_model("initial-exec")));

void remember_module(const hpcrun::ModuleInfo& info) noexcept {
  if (std::strstr(info.path, "libground_truth_library.so")) library_code.module = info.id;
  if (std::strstr(info.path, "test_unwind_ground_truth")) program_code.module = info.id;
}

uint16_t function_of(hpcrun::FrameKey key) {
  const uint16_t module = hpcrun::frame_module(key);
  if (module == program_code.module.load()) return program_code.functions.at(hpcrun::frame_offset(key));
  if (module == library_code.module.load()) return library_code.functions.at(hpcrun::frame_offset(key));
  return kNone;
}

uint16_t function_at(uint64_t pc) {
  const uint16_t in_program = program_code.functions.at(pc - program_code.load_bias);
  return in_program ? in_program : library_code.functions.at(pc - library_code.load_bias);
}

void on_sample(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  ThreadRecord& mine = *record;
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  const uint64_t pc = static_cast<uint64_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  const Shadow& shadow = *thread_truth.current;
  const Truth truth = true_path(shadow, function_at(pc));
  const hpcrun::Stack stack = mine.walker.unwinder.walk(interrupted);

  mine.samples = mine.samples + 1;
  ++mine.reasons[static_cast<size_t>(stack.reason)];
  Counts& counts = mine.counts[static_cast<size_t>(thread_truth.scenario)];
  if (!truth.known) {
    ++counts.unknown;
    errno = saved_errno;
    return;
  }
  // Frames of code without a shadow stack (the C library) have no counterpart.
  uint32_t at = truth.depth + (truth.extra != kNone ? 1 : 0);
  const auto true_at = [&](uint32_t index) { return index < truth.depth ? shadow.ids[index] : truth.extra; };
  bool equal = hpcrun::stack_class(stack.reason) == hpcrun::StackClass::Complete;
  for (uint32_t i = 0; equal && i < stack.depth; ++i) {
    const uint16_t function = function_of(stack.frames[i]);
    if (function != kNone) equal = at > 0 && true_at(--at) == function;
  }
  equal = equal && at == 0;
  if (equal) {
    ++counts.equal;
  } else {
    ++counts.different;
    if (mine.disagreements < ThreadRecord::kKept) {
      Disagreement& kept = mine.kept[mine.disagreements];
      kept.scenario = thread_truth.scenario;
      kept.reason = stack.reason;
      kept.pc = pc;
      kept.walked_depth = stack.depth;
      kept.true_depth = truth.depth + (truth.extra != kNone ? 1 : 0);
      for (uint32_t i = 0; i < Disagreement::kKept; ++i) {
        kept.walked_keys[i] = i < stack.depth ? stack.frames[i] : 0;
        kept.walked[i] = i < stack.depth ? function_of(stack.frames[i]) : uint16_t{kNone};
        kept.truth[i] = i < kept.true_depth ? true_at(kept.true_depth - 1 - i) : uint16_t{kNone};
      }
    }
    ++mine.disagreements;
  }
  errno = saved_errno;
}

void print(const Disagreement& kept) {
  std::printf("  %s, reason %d, pc %#lx, depth %u\n", kScenarioNames[static_cast<size_t>(kept.scenario)],
              static_cast<int>(kept.reason), static_cast<unsigned long>(kept.pc), kept.walked_depth);
  for (uint32_t i = 0; i < Disagreement::kKept && i < kept.walked_depth; ++i) {
    std::printf("    walked %-24s %u+%#lx\n", kFunctionSymbols[kept.walked[i]],
                hpcrun::frame_module(kept.walked_keys[i]),
                static_cast<unsigned long>(hpcrun::frame_offset(kept.walked_keys[i])));
  }
  for (uint32_t i = 0; i < Disagreement::kKept && i < kept.true_depth; ++i) {
    std::printf("    true   %s\n", kFunctionSymbols[kept.truth[i]]);
  }
}

int find_bias(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_name[0] == 0) program_code.load_bias = info->dlpi_addr;
  if (std::strstr(info->dlpi_name, "libground_truth_library.so")) library_code.load_bias = info->dlpi_addr;
  return 0;
}

void sample_thread(ThreadRecord& mine, std::atomic<uint64_t>& total) {
  const auto shadow = std::make_unique<Shadow>();
  thread_truth.current = shadow.get();
  record = &mine;
  uint64_t reported = 0;
  // Only code below gt_run has a shadow stack, so the timer is on inside it only.
  while (total.load() < kWantedSamples) {
    const ThreadTimer timer(kSignal, kPeriodNs);
    work_for(500'000'000);
    total += mine.samples - reported;
    reported = mine.samples;
  }
}

}  // namespace

TEST_CASE("at least 99.9 % of walks find exactly the true call path") {
  REQUIRE(program_code.functions.load("/proc/self/exe", kFunctionSymbols, kFunctionCount));
  REQUIRE(library_code.functions.load(GROUND_TRUTH_LIBRARY_SYMBOLS, kFunctionSymbols, kFunctionCount));
  dl_iterate_phdr(find_bias, nullptr);
  hpcrun::set_module_sink(remember_module);
  hpcrun::refresh_modules();
  REQUIRE(program_code.module != 0);
  REQUIRE(library_code.module != 0);
  install_handlers();
  prof_test::install_handler(kSignal, on_sample);

  std::atomic<uint64_t> total{0};
  constexpr size_t kThreads = 2;
  std::unique_ptr<ThreadRecord> records[kThreads];
  const auto run = [&](size_t i) {
    records[i] = std::make_unique<ThreadRecord>();
    sample_thread(*records[i], total);
  };
  std::thread second(run, 1);
  run(0);
  second.join();

  Counts all;
  std::printf("%-18s %8s %9s %8s\n", "", "equal", "different", "unknown");
  for (size_t i = 0; i < std::size(kScenarioNames); ++i) {
    Counts sum;
    for (const auto& one : records) {
      sum.equal += one->counts[i].equal;
      sum.different += one->counts[i].different;
      sum.unknown += one->counts[i].unknown;
    }
    std::printf("%-18s %8lu %9lu %8lu\n", kScenarioNames[i], sum.equal, sum.different, sum.unknown);
    CHECK(sum.equal > 0);
    all.equal += sum.equal;
    all.different += sum.different;
    all.unknown += sum.unknown;
  }
  std::printf("%-18s %8lu %9lu %8lu\n", "all", all.equal, all.different, all.unknown);
  for (size_t i = 0; i < static_cast<size_t>(hpcrun::StackReason::Count); ++i) {
    uint64_t sum = 0;
    for (const auto& one : records) sum += one->reasons[i];
    if (sum) std::printf("reason %zu: %lu\n", i, sum);
  }
  for (const auto& one : records) {
    for (size_t i = 0; i < one->disagreements && i < ThreadRecord::kKept; ++i) print(one->kept[i]);
  }
  // While libgcc installs an exception's handler, it overwrites saved registers and return addresses of its
  // own frame. About one in a hundred samples of a throwing program is there, where no walk can succeed.
  const uint64_t known = all.equal + all.different;
  CHECK(known >= 10'000);
  CHECK(all.different * 1000 <= known);
  // The share of samples without a known path must stay small.
  CHECK(all.unknown * 50 <= known);
}

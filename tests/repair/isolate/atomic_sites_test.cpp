#include "repair/isolate/atomics/atomic_sites.h"

#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>

#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <string>

#include "repair/isolate/atomics/atomic_plan.h"
#include "repair/isolate/pages/own_pages.h"
#include "tests/repair/isolate/atomic_forms.h"
#include "tests/repair/isolate/child.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

// run_code.S accesses it by offsets.
struct State {
  uint64_t general[16];
  uint64_t flags;
  uint8_t red_zone[128];
  uint8_t stack[128];
  alignas(64) uint8_t vectors[32][64];
  uint64_t masks[8];
};
static_assert(offsetof(State, stack) == 264 && offsetof(State, vectors) == 448 &&
              offsetof(State, masks) == 2496);

extern "C" {
void run_code(uint64_t code, State* state);
int vector_level = 0;  // 1: AVX, 2: AVX-512
void hpcrun_atomic_slow_path() noexcept;
}

namespace {

alignas(64) thread_local uint8_t thread_local_bytes[128];
thread_local volatile bool own_at_site = false;

std::mt19937_64 random_word(20);

int32_t offset_in_thread(const volatile void* variable) {
  uint64_t base;
  asm("movq %%fs:0, %0" : "=r"(base));
  return static_cast<int32_t>(static_cast<int64_t>(reinterpret_cast<uint64_t>(variable) - base));
}

void find_vector_level() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_supports("avx")) vector_level = 1;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 16 & 1 && __builtin_cpu_supports("avx512f"))
    vector_level = 2;
}

// Instructions that may follow an atomic one. All can be moved; the shortest come first.
const Code kFollowing[] = {
    {0xc3},                                      // ret
    {0x90},                                      // nop
    {0x74, 0x00},                                // je to what follows
    {0x48, 0x89, 0xc8},                          // mov %rcx, %rax
    {0x0f, 0x94, 0xc0},                          // sete %al
    {0x83, 0xd2, 0x05},                          // adc $5, %edx
    {0x4d, 0x8d, 0x44, 0x24, 0x08},              // lea 8(%r12), %r8
    {0x0f, 0x85, 0x00, 0x00, 0x00, 0x00},        // jne to what follows
    {0xeb, 0x00},                                // jmp to what follows
    {0x49, 0xc7, 0xc3, 0x78, 0x56, 0x34, 0x12},  // mov $0x12345678, %r11
};

struct Form {
  Operation operation;
  Address address;
  Register with = kRdx;
  uint64_t at = 0;
};

constexpr int32_t kOnStack = 0x48;

std::vector<Address> all_addresses() {
  std::vector<Address> all;
  for (const Register base : {kRdi, kRcx, kRbp, kR9, kR12, kR13}) {
    const bool needs_distance = (base & 7) == kRbp;
    all.push_back(
        {Address::Based, base, false, static_cast<uint8_t>(needs_distance), needs_distance ? -16 : 0});
  }
  all.push_back({Address::Based, kRdi, false, 4, 0x120});
  all.push_back({Address::Based, kRbx, true, 4, 0x40});
  all.push_back({Address::OnStack, kRsp, false, 1, kOnStack});
  all.push_back({Address::InModule, kRdi, false, 4, 64});
  all.push_back({Address::ThreadLocal, kRdi, false, 4, offset_in_thread(thread_local_bytes)});
  return all;
}

std::vector<Form> all_forms(MadeModule& module) {
  std::vector<Form> forms;
  size_t number = 0;
  const std::vector<Address> addresses = all_addresses();
  for (const Operation& operation : all_operations()) {
    for (const Address& address : addresses) {
      Form form{operation, address,
                number % 3 == 0   ? kR8
                : number % 3 == 1 ? kRdx
                                  : kRsi,
                module.next_function()};
      if (address.has_index && form.with == kRsi) form.with = kRdx;
      Code code = assemble(operation, address, form.with, form.at, module.data(), random_word());
      const Code& next = kFollowing[number++ % std::size(kFollowing)];
      code.insert(code.end(), next.begin(), next.end());
      code.insert(code.end(), {0x48, 0x8d, 0x40, 0x01, 0xc3});  // lea 1(%rax), %rax; ret
      module.add(code);
      forms.push_back(form);
    }
  }
  return forms;
}

class Fixture {
 public:
  Fixture() : module(1500), common(1), forms(all_forms(module)) { find_vector_level(); }

  State random_state(const Form& form) {
    State state;
    auto* const bytes = reinterpret_cast<uint8_t*>(&state);
    for (size_t i = 0; i < sizeof state; i += sizeof(uint64_t)) {
      const uint64_t value = random_word();
      memcpy(bytes + i, &value, std::min(sizeof value, sizeof state - i));
    }
    for (uint64_t& mask : state.masks) mask &= 0xffff;
    constexpr uint64_t kArithmetic = 0x8d5, kAlways = 0x202;
    state.flags = (state.flags & kArithmetic) | kAlways;
    for (uint8_t* const memory : memories())
      for (size_t i = 0; i < 128; ++i) memory[i] = static_cast<uint8_t>(random_word());
    if (form.address.has_index) state.general[kRsi] = random_word() % 8 * 4;
    // Half of the counted bits lie outside the word, on this page or on one of the module's.
    if (form.operation.counts_bits) state.general[form.with] = random_word() % 512;
    if (form.address.kind == Address::Based) {
      uint64_t base = common.page(0) + kOffset - static_cast<uint64_t>(form.address.distance);
      if (form.address.has_index) base -= state.general[kRsi] * 4;
      state.general[form.address.base] = base;
    }
    // Comparisons that succeed.
    if (random_word() & 1) {
      const uint8_t* const at =
          form.address.kind == Address::OnStack ? state.stack + (kOnStack - 64) : operand(form);
      if (form.address.base != kRax) memcpy(&state.general[kRax], at, 8);
      if (form.operation.is_pair) memcpy(&state.general[kRdx], at + form.operation.bytes / 2, 8);
      if (form.operation.is_pair && form.operation.bytes == 8) {
        state.general[kRax] = static_cast<uint32_t>(state.general[kRax]);
        state.general[kRdx] = static_cast<uint32_t>(state.general[kRdx]);
      }
    }
    return state;
  }

  std::vector<uint8_t*> memories() {
    return {common.at<uint8_t>(0, kOffset), reinterpret_cast<uint8_t*>(module.data() + 64),
            thread_local_bytes};
  }
  const uint8_t* operand(const Form& form) {
    return memories()[form.address.kind == Address::Based      ? 0
                      : form.address.kind == Address::InModule ? 1
                                                               : 2];
  }

  // Returns everything that the code may change.
  std::string after(const Form& form, const State& before) {
    State state = before;
    run_code(form.at, &state);
    std::string all(reinterpret_cast<const char*>(&state), sizeof state);
    for (const uint8_t* memory : memories()) all.append(reinterpret_cast<const char*>(memory), 128);
    return all;
  }

  // The results without trampolines, and each form's memory afterwards for comparison.
  struct Expected {
    State state;
    std::vector<std::vector<uint8_t>> memories;
    std::string after;
  };
  Expected expect(const Form& form) {
    Expected expected{random_state(form), {}, {}};
    for (const uint8_t* memory : memories()) expected.memories.emplace_back(memory, memory + 128);
    expected.after = after(form, expected.state);
    return expected;
  }
  std::string again(const Form& form, const Expected& expected) {
    const std::vector<uint8_t*> all = memories();
    for (size_t i = 0; i < all.size(); ++i) memcpy(all[i], expected.memories[i].data(), 128);
    return after(form, expected.state);
  }

  MadeModule module;
  CommonPages common;
  std::vector<Form> forms;
  static constexpr size_t kOffset = 2048;
};

std::string bytes_of(const Form& form) {
  std::string text;
  char byte[4];
  for (int i = 0; i < 16; ++i) {
    std::snprintf(byte, sizeof byte, "%02x ", reinterpret_cast<const uint8_t*>(form.at)[i]);
    text += byte;
  }
  return text;
}

void write_all(const AtomicPlans& plans, const MadeModule& module,
               const uint8_t (CodePatch::*bytes)[kJumpBytes]) {
  mprotect(reinterpret_cast<void*>(module.code()), module.code_end() - module.code(), PROT_READ | PROT_WRITE);
  for (const CodePatch& patch : plans.patches)
    memcpy(reinterpret_cast<void*>(patch.address), patch.*bytes, patch.bytes);
  mprotect(reinterpret_cast<void*>(module.code()), module.code_end() - module.code(), PROT_READ | PROT_EXEC);
}

}  // namespace

TEST_CASE(
    "Every form of atomic instruction does the same through a trampoline, with private pages and without") {
  Fixture fixture;
  const dl_phdr_info& info = fixture.module.finish();
  std::vector<std::vector<Fixture::Expected>> expected;
  std::vector<std::string> code;
  for (const Form& form : fixture.forms) {
    code.push_back(bytes_of(form));
    expected.emplace_back();
    for (int turn = 0; turn < 4; ++turn) expected.back().push_back(fixture.expect(form));
  }
  const AtomicSiteCounts before = atomic_site_counts();
  REQUIRE(plan_atomic_sites(info) == nullptr);
  CHECK(atomic_site_counts().sites - before.sites == fixture.forms.size());
  REQUIRE(patch_atomic_sites());

  PrivatePages pages;
  const uint64_t page = fixture.common.page(0);
  std::vector<std::string> wrong, unchanged, not_shared;
  for (size_t i = 0; i < fixture.forms.size(); ++i) {
    const Form& form = fixture.forms[i];
    if (bytes_of(form) == code[i]) unchanged.push_back(code[i]);
    for (const Fixture::Expected& each : expected[i]) {
      if (fixture.again(form, each) != each.after) wrong.push_back("at home: " + code[i]);
      if (!pages.isolate(page)) wrong.emplace_back("no private page");
      own_pages = &pages;
      if (fixture.again(form, each) != each.after) wrong.push_back("in a converted thread: " + code[i]);
      own_pages = nullptr;
      if (pages.holds(page) == (form.address.kind == Address::Based)) not_shared.push_back(code[i]);
      pages.share_all();
    }
  }
  CHECK(unchanged == std::vector<std::string>());
  CHECK(wrong == std::vector<std::string>());
  CHECK(not_shared == std::vector<std::string>());
  CHECK(!is_at_atomic_site());

  unpatch_atomic_sites();
  for (size_t i = 0; i < fixture.forms.size(); ++i)
    if (bytes_of(fixture.forms[i]) != code[i]) wrong.push_back("afterwards: " + code[i]);
  CHECK(wrong == std::vector<std::string>());
  CHECK(plan_atomic_sites(info) == nullptr);  // already known
  CHECK(atomic_site_counts().sites - before.sites == fixture.forms.size());
  remove_atomic_sites(fixture.module.code(), fixture.module.code_end());
}

namespace {

// Checks one run of code by a debugger's single steps: each place in a trampoline maps to one in the program.
struct Steps {
  uint64_t code_low = 0, code_high = 0;
  uint64_t stack = 0;  // the latest in the program's code
  uint64_t in_trampoline = 0, in_calls = 0, wrong = 0;
};
constinit Steps steps;
constexpr uint64_t kTrapFlag = 0x100;

void check_place(uint64_t pc, uint64_t sp, uint64_t& count) {
  if (!leave_trampoline(pc, sp)) return;
  ++count;
  if (pc < steps.code_low || pc >= steps.code_high || sp != steps.stack) ++steps.wrong;
}

void on_step(int, siginfo_t*, void* raw) {
  auto& registers = static_cast<ucontext_t*>(raw)->uc_mcontext.gregs;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]), sp = static_cast<uint64_t>(registers[REG_RSP]);
  if (pc >= steps.code_low && pc < steps.code_high) {
    steps.stack = sp;
    if (steps.in_trampoline) registers[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
  } else if (pc == reinterpret_cast<uint64_t>(hpcrun_atomic_slow_path)) {
    check_place(*reinterpret_cast<const uint64_t*>(sp), sp + sizeof sp, steps.in_calls);
  } else {
    check_place(pc, sp, steps.in_trampoline);
  }
}

}  // namespace

TEST_CASE("Each place in a trampoline is known as one in the program, with its stack pointer") {
  Fixture fixture;
  const dl_phdr_info& info = fixture.module.finish();
  std::vector<State> states;
  for (const Form& form : fixture.forms) states.push_back(fixture.random_state(form));
  REQUIRE(plan_atomic_sites(info) == nullptr);
  REQUIRE(patch_atomic_sites());
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  constexpr size_t kApart = 7;  // stepping is slow
  for (const bool has_pages : {false, true}) {
    for (size_t i = 0; i < fixture.forms.size(); i += kApart) {
      steps = {fixture.module.code(), fixture.module.code_end()};
      State state = states[i];
      state.flags |= kTrapFlag;
      PrivatePages pages;
      if (has_pages) REQUIRE(pages.isolate(fixture.common.page(0)));
      if (has_pages) own_pages = &pages;
      run_code(fixture.forms[i].at, &state);
      own_pages = nullptr;
      pages.share_all();
      CAPTURE(has_pages, bytes_of(fixture.forms[i]));
      CHECK(steps.wrong == 0);
      CHECK(steps.in_trampoline > 5);
      CHECK(steps.in_calls == (has_pages ? 2 : 0));
    }
  }
  sigaction(SIGTRAP, &before, nullptr);
  unpatch_atomic_sites();
  remove_atomic_sites(fixture.module.code(), fixture.module.code_end());
}

TEST_CASE("Short instructions have jumps with prefixes, and ones for which the next instruction is moved") {
  using Tactic = AtomicPlanner::Tactic;
  for (const Tactic tactic : {Tactic::Punned, Tactic::Prefixed, Tactic::NextMoved}) {
    Fixture fixture;
    const dl_phdr_info& info = fixture.module.finish();
    const CodeFunctions functions(info);
    AtomicPlans plans;
    TrampolinePlaces places;
    const TrampolineTargets targets{offset_in_thread(&own_pages), offset_in_thread(&own_at_site),
                                    reinterpret_cast<uint64_t>(&hpcrun_atomic_slow_path)};
    REQUIRE(places.begin());
    size_t planned = 0, refused = 0;
    std::vector<std::pair<const Form*, Fixture::Expected>> expected;
    for (const Form& form : fixture.forms) {
      AtomicPlanner planner(plans, places, targets);
      planner.begin_with(tactic);
      const size_t patches = plans.patches.size();
      const Fixture::Expected bare = fixture.expect(form);
      if (planner.plan(functions, form.at, form.at + 64)) {
        plans.patches.cut(patches);
        ++refused;
        continue;
      }
      const size_t length = plans.sites[plans.sites.size() - 1].length;
      if (length >= kJumpBytes) {
        plans.patches.cut(patches);
        continue;
      }
      ++planned;
      expected.emplace_back(&form, bare);
    }
    REQUIRE(places.finish());
    CAPTURE(static_cast<int>(tactic), planned, refused, plans.moved.size());
    // A return cannot make room, and which places are taken varies from run to run.
    CHECK(planned > 4 * refused);
    CHECK((plans.moved.size() > planned / 2) == (tactic == Tactic::NextMoved));
    write_all(plans, fixture.module, &CodePatch::after);
    std::vector<std::string> wrong;
    for (const auto& [form, bare] : expected)
      if (fixture.again(*form, bare) != bare.after) wrong.push_back(bytes_of(*form));
    CHECK(wrong == std::vector<std::string>());
    places.give_up();
  }
}

namespace {

const Code kIncrement = {0xf0, 0xff, 0x07, 0x90, 0x90, 0x90, 0x90, 0xc3};  // lock incl (%rdi)

const char* refusal(const Code& function, bool has_unwind_information = true) {
  MadeModule module(1);
  module.add(function);
  dl_phdr_info info = module.finish();
  if (!has_unwind_information) info.dlpi_phnum = 1;
  const AtomicSiteCounts before = atomic_site_counts();
  const char* const reason = plan_atomic_sites(info);
  const AtomicSiteCounts counts = atomic_site_counts();
  if (reason) CHECK(counts.sites == before.sites);
  if (reason) CHECK(counts.trampoline_bytes == before.trampoline_bytes);
  remove_atomic_sites(module.code(), module.code_end());
  return reason ? reason : "";
}

using Text = std::string;

}  // namespace

TEST_CASE("Code that cannot be decoded with certainty is declined with its reason") {
  CHECK(refusal(kIncrement) == Text());
  CHECK(refusal(kIncrement, false) == Text("it has no unwind information"));
  CHECK(refusal({0x90, 0xc3}, false) == Text());
  // je over the LOCK prefix, as in the C library
  CHECK(refusal({0x74, 0x01, 0xf0, 0xff, 0x07, 0x90, 0x90, 0xc3}) ==
        Text("the code jumps past a lock prefix"));
  CHECK(refusal({0xf0, 0xff, 0x07, 0x06, 0x90, 0x90, 0x90, 0xc3}) ==
        Text("a function with atomic instructions cannot be decoded"));
  CHECK(refusal({0x06, 0x90, 0xc3}) == Text());
  // lock incl %gs:(%rdi), and with an address of 32 bits
  const Text unknown_operand = "the memory operand of an atomic instruction cannot be determined";
  CHECK(refusal({0x65, 0xf0, 0xff, 0x07, 0x90, 0x90, 0x90, 0xc3}) == unknown_operand);
  CHECK(refusal({0x67, 0xf0, 0xff, 0x07, 0x90, 0x90, 0x90, 0xc3}) == unknown_operand);
}

TEST_CASE("Other code in the place of what was planned for is left alone") {
  MadeModule module(2);
  const uint64_t first = module.add(kIncrement), second = module.add(kIncrement);
  REQUIRE(plan_atomic_sites(module.finish()) == nullptr);
  const size_t bytes = module.code_end() - module.code();
  mprotect(reinterpret_cast<void*>(module.code()), bytes, PROT_READ | PROT_WRITE);
  memcpy(reinterpret_cast<void*>(second), "\x90\x90\x90", 3);
  CHECK(!patch_atomic_sites());
  CHECK(memcmp(reinterpret_cast<void*>(first), kIncrement.data(), kIncrement.size()) == 0);
  remove_atomic_sites(module.code(), module.code_end());
  CHECK(patch_atomic_sites());
  CHECK(memcmp(reinterpret_cast<void*>(first), kIncrement.data(), kIncrement.size()) == 0);
}

TEST_CASE("What is between functions is left alone") {
  MadeModule module(2);
  module.add({0xc3});
  memcpy(reinterpret_cast<void*>(module.code() + 16), kIncrement.data(), kIncrement.size());
  const AtomicSiteCounts before = atomic_site_counts();
  CHECK(plan_atomic_sites(module.finish()) == nullptr);
  CHECK(atomic_site_counts().sites == before.sites);
  remove_atomic_sites(module.code(), module.code_end());
}

TEST_CASE("An operand on two pages, and a bit on another page than the operand's, make these common") {
  const CommonPages common(3);
  MadeModule module(4);
  const uint64_t exchange = module.add({0x48, 0x87, 0x07, 0x90, 0x90, 0x90, 0xc3});  // xchg %rax, (%rdi)
  const uint64_t bits[] = {
      module.add({0xf0, 0x66, 0x0f, 0xab, 0x07, 0x90, 0x90, 0x90, 0xc3}),  // lock bts %ax, (%rdi)
      module.add({0xf0, 0x0f, 0xab, 0x07, 0x90, 0x90, 0x90, 0xc3}),        // lock bts %eax, (%rdi)
      module.add({0xf0, 0x48, 0x0f, 0xab, 0x07, 0x90, 0x90, 0x90, 0xc3}),  // lock bts %rax, (%rdi)
  };
  REQUIRE(plan_atomic_sites(module.finish()) == nullptr);
  REQUIRE(patch_atomic_sites());
  PrivatePages pages;
  State state{};
  state.flags = 0x202;
  const auto run = [&](uint64_t code) {
    for (size_t page = 0; page < 3; ++page) REQUIRE(pages.isolate(common.page(page)));
    own_pages = &pages;
    run_code(code, &state);
    own_pages = nullptr;
  };
  const auto private_pages = [&] {
    std::string text;
    for (size_t page = 0; page < 3; ++page) text += pages.holds(common.page(page)) ? '1' : '0';
    return text;
  };
  for (size_t form = 0; form < 3; ++form) {
    const uint64_t bytes = 2u << form;
    state.general[kRdi] = common.page(1) - bytes;
    state.general[kRax] = 8 * bytes + 1;
    *common.at<uint64_t>(1) = 0;
    run(bits[form]);
    CHECK(private_pages() == "101");
    CHECK(*common.at<uint64_t>(1) == 2);
    state.general[kRdi] = common.page(1);
    state.general[kRax] = ~uint64_t{0};
    *common.at<uint8_t>(0, kPageBytes - 1) = 0;
    run(bits[form]);
    CHECK(private_pages() == "011");
    CHECK(*common.at<uint8_t>(0, kPageBytes - 1) == 0x80);
  }

  // Some kernels kill processes that lock memory across two cache lines.
  state.general[kRdi] = common.page(2) - 4;
  const bool may_split = holds_in_child([&] {
    unpatch_atomic_sites();
    run_code(exchange, &state);
    return true;
  });
  if (may_split) {
    state.general[kRax] = 0x1122334455667788;
    run(exchange);
    CHECK(private_pages() == "100");
    CHECK(*common.at<uint32_t>(1, kPageBytes - 4) == 0x55667788);
    CHECK(*common.at<uint32_t>(2) == 0x11223344);
  }
  unpatch_atomic_sites();
  pages.share_all();
  remove_atomic_sites(module.code(), module.code_end());
}

namespace {

uint64_t fault_at = 0;
bool was_at_site = false;

void note_fault(int, siginfo_t*, void* raw) {
  const auto& context = *static_cast<ucontext_t*>(raw);
  fault_at = place_in_program(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]));
  was_at_site = is_at_atomic_site();
  _exit(context.uc_mcontext.gregs[REG_RCX] == 17 && was_at_site ? static_cast<int>(fault_at & 0x3f) : 255);
}

}  // namespace

TEST_CASE("A fault in a trampoline is one of the program's instruction") {
  const CommonPages common(1);
  MadeModule module(1);
  module.add({0x90, 0x90, 0x90, 0xf0, 0xff, 0x07, 0x90, 0x90, 0x90, 0xc3});  // lock incl (%rdi)
  REQUIRE(plan_atomic_sites(module.finish()) == nullptr);
  for (const bool has_pages : {false, true}) {
    const int status = status_of([&] {
      struct sigaction action {};
      action.sa_sigaction = note_fault;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &action, nullptr);
      PrivatePages pages;
      if (!patch_atomic_sites() || is_at_atomic_site()) return 254;
      if (has_pages) own_pages = &pages;
      State state{};
      state.flags = 0x202;
      state.general[kRdi] = 8;
      state.general[kRcx] = 17;
      run_code(module.code(), &state);
      return 253;
    });
    CHECK(WEXITSTATUS(status) == 3);
  }
  remove_atomic_sites(module.code(), module.code_end());
}

namespace {

// Runs the work in several processes; the total is at the start of the page.
template <typename Work>
uint64_t count_in_converted_threads(const CommonPages& common, bool patches, const Work& work) {
  constexpr size_t kConvertedThreads = 3;
  pthread_barrier_t* const barrier = common.barrier(1, 0, kConvertedThreads);
  *common.at<uint64_t>(0) = 0;
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (patches && !patch_atomic_sites()) return false;
    if (!pages.isolate(common.page(0))) return false;
    own_pages = &pages;
    pthread_barrier_wait(barrier);
    work();
    pthread_barrier_wait(barrier);
    own_pages = nullptr;
    pages.share_all();
    return true;
  };
  CHECK(in_converted_threads(kConvertedThreads, converted) == kConvertedThreads);
  return *common.at<uint64_t>(0);
}

}  // namespace

TEST_CASE("Atomic sums of converted threads are right, and are not where the code is as it was") {
  const CommonPages common(2);
  MadeModule module(1);
  const uint64_t increment = module.add(kIncrement);
  REQUIRE(plan_atomic_sites(module.finish()) == nullptr);
  const auto work = [&] {
    for (int turn = 0; turn < 10'000; ++turn)
      reinterpret_cast<void (*)(uint64_t*)>(increment)(common.at<uint64_t>(0));
  };
  CHECK(count_in_converted_threads(common, true, work) == 30'000);
  CHECK(count_in_converted_threads(common, false, work) < 30'000);
  remove_atomic_sites(module.code(), module.code_end());
}

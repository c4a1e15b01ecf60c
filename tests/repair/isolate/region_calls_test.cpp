// Tests the guarantees on which annotated code relies around the calls of repair/isolate/pass/regions.h.

#include <array>
#include <cstdint>

#include <catch2/catch.hpp>

#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/pass/regions.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

struct Registers {
  uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10;
  bool operator==(const Registers&) const = default;
};

// Returns the registers after a call that began with these.
template <class Function>
Registers registers_behind(Function* function, Registers registers) {
  register uint64_t r8 asm("r8") = registers.r8;
  register uint64_t r9 asm("r9") = registers.r9;
  register uint64_t r10 asm("r10") = registers.r10;
  asm volatile("lea -128(%%rsp), %%rsp\n call *%[function]\n lea 128(%%rsp), %%rsp"
               : "+a"(registers.rax), "+c"(registers.rcx), "+d"(registers.rdx), "+S"(registers.rsi),
                 "+D"(registers.rdi), "+r"(r8), "+r"(r9), "+r"(r10)
               : [function] "b"(function)
               : "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                 "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  registers.r8 = r8;
  registers.r9 = r9;
  registers.r10 = r10;
  return registers;
}

}  // namespace

TEST_CASE("Calls keep all registers but the one of a result") {
  const CommonPages common(1);
  const uint64_t address = common.page(0) + 16;
  const auto keeps_all = [&](size_t, PrivatePages& pages) {
    own_pages = &pages;
    Registers registers{1, 2, kProfCommitBefore | kProfCommitAfter, 8, address, 6, 7, 8};
    bool right = true;
    for (const bool isolated : {false, true}) {
      if (isolated && !pages.isolate(address)) return false;
      Registers begun = registers_behind(&prof_atomic_begin, registers);
      right &= begun.rax == pages.common_address(address);
      begun.rax = registers.rax;
      right &= begun == registers;
      right &= registers_behind(&prof_atomic_end, registers) == registers;
      right &= registers_behind(&prof_commit, registers) == registers;
      right &= registers_behind(&prof_region_begin, registers) == registers;
      right &= pages.count() == 0;
      right &= registers_behind(&prof_region_end, registers) == registers;
      right &= pages.count() == isolated;
    }
    right &= registers_behind(&prof_share, registers) == registers;
    return right && pages.count() == 0 && !is_in_region();
  };
  CHECK(in_converted_threads(1, keeps_all) == 1);
}

TEST_CASE("In a thread at home a region is at the address itself") {
  REQUIRE(own_pages == nullptr);
  int value = 0;
  Registers registers{0, 0, 0, sizeof value, reinterpret_cast<uint64_t>(&value), 0, 0, 0};
  CHECK(registers_behind(&prof_atomic_begin, registers).rax == registers.rdi);
  CHECK(is_in_region());
  registers_behind(&prof_atomic_end, registers);
  CHECK(!is_in_region());
}

TEST_CASE("What a handler puts off is done once, when the view is closed") {
  static volatile int left;  // assembly changes it by a call
  const auto leave = []() noexcept { left = left + 1; };
  const CommonPages common(1);
  const auto converted = [&](size_t, PrivatePages& pages) {
    own_pages = &pages;
    if (!pages.isolate(common.page(0))) return false;
    const Registers registers{0, 0, 0, 8, common.page(0), 0, 0, 0};
    registers_behind(&prof_atomic_begin, registers);
    bool right = is_in_region() && pages.is_busy_until(leave) && left == 0;
    registers_behind(&prof_atomic_end, registers);
    right &= left == 1;
    registers_behind(&prof_atomic_begin, registers);
    registers_behind(&prof_atomic_end, registers);
    right &= left == 1;
    // Assembly may wait for other threads, so the thread can come home meanwhile.
    registers_behind(&prof_region_begin, registers);
    right &= is_in_region() && !pages.is_busy_until(leave);
    registers_behind(&prof_region_end, registers);
    return right && !is_in_region();
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE("An access that fails leaves no view open in the thread that is given back") {
  const CommonPages common(1);
  auto* const data = common.at<volatile uint64_t>(0);
  const auto converted = [&](size_t, PrivatePages& pages) {
    own_pages = &pages;
    if (!pages.isolate(common.page(0))) return false;
    data[100] = 1;
    const Registers registers{0, 0, 0, 8, common.page(0), 0, 0, 0};
    registers_behind(&prof_atomic_begin, registers);
    data[200] = 2;
    pages.leave();
    own_pages = nullptr;
    registers_behind(&prof_atomic_end, registers);
    return !pages.is_busy() && !is_in_region();
  };
  CHECK(in_converted_threads(1, converted) == 1);
  CHECK(data[100] == 1);
  CHECK(data[200] == 2);
}

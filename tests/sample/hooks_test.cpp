// Kinds of waste register their hooks, and handlers call those that are on.

#include "hpcrun/hooks.h"

#include <catch2/catch.hpp>

#include <vector>

#include "hpcrun/sample/handler.h"

using namespace hpcrun;

namespace {

Kind first, second, third;

constexpr Hooks kFirst{.kind = &first, .signals = []() noexcept -> uint64_t { return 1; }};
constexpr Hooks kSecond{.kind = &second,
                        .signals = []() noexcept -> uint64_t { return 2; },
                        .request_signals = []() noexcept -> uint64_t { return 4; }};
constexpr Hooks kThird{.kind = &third};
constexpr const Hooks* kAll[] = {&kFirst, &kSecond, &kThird};

std::vector<const Hooks*> called(const Hooks* last = nullptr) {
  std::vector<const Hooks*> kinds;
  for_each_on([&](const Hooks& kind) {
    kinds.push_back(&kind);
    return &kind == last;
  });
  return kinds;
}

}  // namespace

TEST_CASE("hooks are called in the order of the kinds, while these are on") {
  register_kinds(kAll, 3);
  CHECK(first.number == 0);
  CHECK(second.number == 1);
  CHECK(third.number == 2);
  const Hooks* const again[] = {&kThird};
  register_kinds(again, 1);
  CHECK(third.number == 2);

  CHECK(called().empty());
  switch_on(third);
  switch_on(first);
  CHECK(called() == std::vector<const Hooks*>{&kFirst, &kThird});
  CHECK(called(&kFirst) == std::vector<const Hooks*>{&kFirst});
  CHECK_FALSE(is_on(second));
  switch_off(second);
  switch_off(first);
  CHECK(called() == std::vector<const Hooks*>{&kThird});
  switch_off(third);
  CHECK(called().empty());
}

TEST_CASE("a breakpoint's signal belongs to one kind, and is no sample") {
  register_kinds(kAll, 3);
  const uint64_t data = breakpoint_signal_data(kBreakpointSignalData, second);
  for (const uint64_t low : {uint64_t{0}, uint64_t{0xffff}}) {
    CHECK(is_breakpoint_of(second, data + low));
    CHECK_FALSE(is_breakpoint_of(first, data + low));
    CHECK_FALSE(is_breakpoint_of(third, data + low));
  }
  CHECK(data >> 31 == kBreakpointSignalData >> 31);
  CHECK(perf_signal_data(kMaxThreadEvents) >> 31 != data >> 31);
}

TEST_CASE("the signals of all kinds are owned, and requests are among them") {
  register_kinds(kAll, 3);
  CHECK(signals_of_kinds() == 7);
  CHECK(request_signals_of_kinds() == 4);
}

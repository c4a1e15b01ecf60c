// Pins all transitions of the automaton that the exact engine has for each byte of memory.

#include <catch2/catch.hpp>

#include "tests/exact/automaton_table.h"

namespace {

enum Kind { Dead, Silent, Redundant };
enum Event { Load, StoreOther, StoreSame, KernelStore, Reset };

constexpr uint32_t kFree = 0;
constexpr uint32_t kHolder = 7;
constexpr uint32_t kAccess = 9;

struct Transition {
  Kind kind;
  Event event;
  uint32_t from;
  uint32_t to;
  bool is_wasted;
};

constexpr Transition kAll[] = {
    {Dead, Load, kFree, kFree, false},
    {Dead, Load, kHolder, kFree, false},
    {Dead, StoreOther, kFree, kAccess, false},
    {Dead, StoreOther, kHolder, kAccess, true},
    {Dead, StoreSame, kFree, kAccess, false},
    {Dead, StoreSame, kHolder, kAccess, true},
    {Dead, KernelStore, kFree, kFree, false},
    {Dead, KernelStore, kHolder, kFree, true},
    {Dead, Reset, kFree, kFree, false},
    {Dead, Reset, kHolder, kFree, false},
    {Silent, Load, kFree, kFree, false},
    {Silent, Load, kHolder, kHolder, false},
    {Silent, StoreOther, kFree, kAccess, false},
    {Silent, StoreOther, kHolder, kAccess, false},
    {Silent, StoreSame, kFree, kAccess, false},
    {Silent, StoreSame, kHolder, kAccess, true},
    {Silent, KernelStore, kFree, kFree, false},
    {Silent, KernelStore, kHolder, kFree, false},
    {Silent, Reset, kFree, kFree, false},
    {Silent, Reset, kHolder, kFree, false},
    {Redundant, Load, kFree, kAccess, false},
    {Redundant, Load, kHolder, kAccess, true},
    {Redundant, StoreOther, kFree, kFree, false},
    {Redundant, StoreOther, kHolder, kFree, false},
    {Redundant, StoreSame, kFree, kFree, false},
    {Redundant, StoreSame, kHolder, kHolder, false},
    {Redundant, KernelStore, kFree, kFree, false},
    {Redundant, KernelStore, kHolder, kFree, false},
    {Redundant, Reset, kFree, kFree, false},
    {Redundant, Reset, kHolder, kFree, false},
};

}  // namespace

TEST_CASE("every transition of the automaton is the one in the table") {
  CHECK(std::size(kAll) == static_cast<size_t>(automaton_kinds() * automaton_events() * 2));
  for (const Transition& transition : kAll) {
    INFO("kind " << transition.kind << ", event " << transition.event << ", from " << transition.from);
    int wasted = -1;
    CHECK(automaton_step(transition.kind, transition.event, transition.from, kAccess, &wasted) ==
          transition.to);
    CHECK(wasted == (transition.is_wasted ? 1 : 0));
  }
}

#include "repair/isolate/controller/page_decisions.h"

#include "hpcrun/guest/clock.h"
#include "repair/isolate/controller/controller_state.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/controller/isolatable_memory.h"
#include "repair/isolate/memory/common_state.h"

namespace hpcrun {

namespace {

void report(const KnownPage& known, WhyShared why) noexcept {
  if (controller.host.tell) controller.host.tell({known.request, why, monotonic_ns()});
}

WhyShared reason_against(const KnownPage& known) noexcept {
  if (known.declined != WhyShared::None) return known.declined;
  return reason_not_isolatable(known.page.load(), known.request.is_allocation);
}

void close_for_rest_of_run(uint64_t page) noexcept {
  common_state.hold.closed.set(page, page + kPageBytes);
}

}  // namespace

void decline(KnownPage& known, WhyShared why) noexcept {
  isolated_pages.remove(known.page.load());
  known.state.store(KnownPage::State::Shared);
  report(known, why);
}

// Checks for reasons twice: changes of the page's memory are noticed only once it counts as isolated
// (end_isolation_of()).
void admit(KnownPage& known) noexcept {
  WhyShared why = reason_against(known);
  if (why == WhyShared::None) {
    known.state.store(KnownPage::State::Isolated);
    why = reason_against(known);
    if (why == WhyShared::None && !isolated_pages.add(known.page.load())) why = WhyShared::TooMany;
  }
  if (why != WhyShared::None) decline(known, why);
}

void report_isolated() noexcept {
  for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
    if (known.is_reported) return;
    known.is_reported = true;
    report(known, WhyShared::None);
  });
}

bool decline_all(WhyShared why) noexcept {
  for_each_known(KnownPage::State::Asked, [why](KnownPage& known) { decline(known, why); });
  for_each_known(KnownPage::State::Isolated, [why](KnownPage& known) { decline(known, why); });
  return false;
}

bool decline_for_fork() noexcept {
  if (!controller.outlives_fork.load()) return decline_all(WhyShared::Forked);
  for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
    decline(known, WhyShared::Forked);
    known.is_reported = false;
    known.state.store(KnownPage::State::Free);
  });
  return false;
}

void decline_needed() noexcept {
  needed_common.take([](uint64_t page, uint64_t why) {
    KnownPage* const known = find_known(page, false);
    if (known && known->state.load() == KnownPage::State::Isolated)
      decline(*known, static_cast<WhyShared>(why));
    close_for_rest_of_run(page);
    return true;
  });
}

void decline_all_if_needed() noexcept {
  if (!needed_common.needs_all()) return;
  for_each_known(KnownPage::State::Isolated,
                 [](KnownPage& known) { close_for_rest_of_run(known.page.load()); });
  decline_all(WhyShared::SyncObject);
  needed_common.take_all();
}

void decline_changed() noexcept {
  for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
    if (const WhyShared why = reason_against(known); why != WhyShared::None) decline(known, why);
  });
}

}  // namespace hpcrun

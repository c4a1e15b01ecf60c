#include "repair/isolate/controller/converted_pages.h"

#include "hpcrun/guest/clock.h"
#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/polled_pages.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

constinit IsolatedPages isolated_pages;
constinit std::atomic<bool> nobody_has_pages{false};

namespace {

constinit PrivatePages pages[kMaxThreads];
constinit uint32_t followed[kMaxThreads];
constinit bool is_patched[kMaxThreads];  // by the index of the thread's record
constinit uint64_t watched_until_ns[kMaxThreads];
constinit ChangedLine changed_line_callback = nullptr;

void on_changed(uint64_t line, uint64_t bytes) noexcept {
  isolated_pages.note_writer(page_down(line), static_cast<uint32_t>(place_of(*this_record())) + 1);
  changed_line_callback(line, bytes);
}

// False within an atomic instruction, and in code that works on common memory; the next request tries again.
// Also false if no thread may have pages.
bool may_take_pages() noexcept {
  return !is_at_atomic_site() && !is_in_region() && !nobody_has_pages.load();
}

// A new converted thread is watched for atomic instructions for a while before it has any page.
void follow_pages() noexcept {
  const size_t place = place_of(*this_record());
  if (watched_until_ns[place] && monotonic_ns() < watched_until_ns[place]) return;
  watched_until_ns[place] = 0;
  isolated_pages.follow(*own_pages, followed[place]);
}

void take_pages() noexcept {
  if (!may_take_pages()) return;
  const size_t place = place_of(*this_record());
  own_pages = &pages[place];
  own_pages->begin(static_cast<uint32_t>(place));
  followed[place] = 0;
  const uint64_t watch_ns = isolated_pages.watch_ns();
  watched_until_ns[place] = watch_ns ? monotonic_ns() + watch_ns : 0;
  follow_pages();
}

// A converted thread whose atomic instructions cannot be patched has no private pages.
void on_converted() noexcept {
  ThreadRecord& record = *this_record();
  is_patched[place_of(record)] = patch_atomic_sites();
  if (is_patched[place_of(record)]) take_pages();
}

void on_leaving() noexcept {
  if (!own_pages) return;
  own_pages->leave();
  own_pages = nullptr;
}

void before_call() noexcept {
  commit_own_pages(Stores::Own);
}
void after_call() noexcept {
  commit_own_pages(Stores::Others);
}

void on_asked(const ucontext_t& interrupted) noexcept {
  asked_in_region = is_in_region();
  if (!own_pages && is_patched[place_of(*this_record())]) return take_pages();
  if (!own_pages || own_pages->is_busy()) return;
  if (may_take_pages()) share_polled_pages(*own_pages, interrupted);
  own_pages->commit();
  if (may_take_pages()) follow_pages();
}

// For libraries that make futex calls themselves. A futex word on a private page would have no effect.
void on_wait(uint64_t address) noexcept {
  if (own_pages && address) share_own_page(*own_pages, address, static_cast<uint64_t>(WhyShared::SyncObject));
}

bool is_busy() noexcept {
  return own_pages && own_pages->is_busy_until(leave_where_asked);
}

}  // namespace

void watch_changes(ChangedLine changed) noexcept {
  changed_line_callback = changed;
  report_changed_lines(changed ? on_changed : nullptr);
}

void ask_again() noexcept {
  asked_in_region = false;
  if (is_in_direct_call()) return;  // the program left it by a jump, and requests would repeat forever
  if (ThreadRecord* const record = this_record()) ask_to_commit(*record);
}

ConversionHooks converted_page_hooks() noexcept {
  return {.converted = on_converted,
          .before_leaving = on_leaving,
          .before_call = before_call,
          .after_call = after_call,
          .asked = on_asked,
          .is_busy = is_busy,
          .waits_on = on_wait,
          .place_in_program = leave_atomic_site};
}

const PrivatePages& pages_of(const ThreadRecord& record) noexcept {
  return pages[place_of(record)];
}

}  // namespace hpcrun

// Starts and ends the isolation of pages with measuring.

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>

#include <utility>

#include "hpcrun/contention/counted_writes.h"
#include "hpcrun/heap/allocation_hooks.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/sample/converted_thread.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/sync/observer.h"
#include "hpcrun/unwind/moved_code.h"
#include "repair/isolate/runtime/isolating.h"
#include "repair/isolate/runtime/isolation_state.h"

namespace hpcrun {

namespace {

void write(RepairKind kind, const PageRequest& page, WhyShared why, uint64_t time_ns) noexcept {
  if (!is_sampling_this_copy()) return;
  RepairRecord record{};
  record.time_ns = time_ns;
  record.kind = kind;
  record.address = page.address;
  record.conflicts = page.share_ppm;
  record.remaining = static_cast<uint64_t>(why);
  process_state.file.write_repair(record);
}

// Numbers of pages that several threads touched and that stay common, by reason.
std::atomic<uint32_t> left_common[static_cast<size_t>(WhyShared::kCount)];

void record_outcome(const PageNews& news) noexcept {
  if (process_state.config.contention_by_pages) {
    if (news.why < WhyShared::kCount) left_common[static_cast<size_t>(news.why)].fetch_add(1);
    return;
  }
  write(news.why == WhyShared::None ? RepairKind::PageIsolated : RepairKind::PageShared, news.page, news.why,
        news.time_ns);
}

void leave_out_thread() noexcept {
  thread_is_left_out = true;
}

void note_refusal(const char* why) noexcept {
  static char line[256];
  const char* const what = process_state.config.contention_by_pages
                               ? "Contention could not be searched for by pages"
                               : "Nothing was isolated";
  snprintf(line, sizeof line, "%s: %s.", what, why);
  process_state.file.write_note(
      line, process_state.config.contention_by_pages ? NoteKind::Contention : NoteKind::Run);
}

// Notes what findings by pages do not include.
void note_what_was_not_seen(const Isolation& with) noexcept {
  static char line[256];
  const auto count = [](WhyShared why) { return left_common[static_cast<size_t>(why)].load(); };
  if (const uint32_t pages = count(WhyShared::AtomicUse) + count(WhyShared::SyncObject)) {
    snprintf(line, sizeof line,
             "Contention on %u of the pages was not counted: atomic operations or locks use them; -e "
             "contention includes them.",
             pages);
    process_state.file.write_note(line, NoteKind::Contention);
  }
  if (const uint64_t lost = written_lines.lost()) {
    snprintf(line, sizeof line,
             "Contention was not counted %llu times: threads changed more lines than there is room for.",
             static_cast<unsigned long long>(lost));
    process_state.file.write_note(line, NoteKind::Contention);
  }
  IsolationTotals totals;
  with.totals(totals);
  if (totals.is_over)
    process_state.file.write_note(
        "Contention was counted by pages only until the program executed an atomic operation of its own; "
        "-e contention measures such programs as well.",
        NoteKind::Contention);
}

int find_c_library(dl_phdr_info* module, size_t, void*) {
  const auto inside = reinterpret_cast<uint64_t>(gnu_get_libc_version);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    const uint64_t low = module->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || inside < low || inside >= low + header.p_memsz) continue;
    c_library = {low, low + header.p_memsz};
    return 1;
  }
  return 0;
}

void count(Counter counter, uint64_t value) noexcept {
  process_state.file.counter(counter).store(value, std::memory_order_relaxed);
}

Kind isolation_kind;

uint64_t bit_of(int signal) noexcept {
  return signal ? uint64_t{1} << (signal - 1) : 0;
}

// Raises a counter. The thread that ends the program may have stored a later sum than the library's thread.
void raise(Counter counter, uint64_t value) noexcept {
  std::atomic<uint64_t>& noted = process_state.file.counter(counter);
  for (uint64_t before = noted.load(std::memory_order_relaxed);
       before < value && !noted.compare_exchange_weak(before, value, std::memory_order_relaxed);)
    continue;
}

void note_totals(const IsolationTotals& totals) noexcept {
  raise(Counter::Conversions, totals.conversions);
  raise(Counter::ConversionNanoseconds, totals.conversion_ns);
  raise(Counter::LongestConversion, totals.longest_conversion_ns);
  raise(Counter::PageCommits, totals.commits);
  raise(Counter::CommitNanoseconds, totals.commit_ns);
  raise(Counter::MergedWords, totals.merged_words);
  raise(Counter::ConvertedNanoseconds, totals.converted_cpu_ns);
  process_state.file.counter(Counter::IsolationGuarantee)
      .fetch_or((totals.was_annotated ? kIsolatedAnnotated : 0) | (totals.was_plain ? kIsolatedPlain : 0),
                std::memory_order_relaxed);
  count(Counter::MeetingsIsolated, totals.isolated_pace);
  count(Counter::MeetingsCommon, totals.common_pace);
}

// Stores the totals while the program runs.
void note(const IsolationTotals& totals) noexcept {
  if (is_sampling_this_copy()) note_totals(totals);
}

// Stores the totals, and returns how many conversions there were.
uint64_t note_totals(const Isolation& with) noexcept {
  IsolationTotals totals;
  with.totals(totals);
  note_totals(totals);
  return totals.conversions;
}

// Returns what libprof-isolate.so exports, looked up once: in a forked child a failed dlsym() would
// allocate.
const Isolation* find_isolation() noexcept {
  static bool looked = false;
  static const Isolation* found = nullptr;
  if (std::exchange(looked, true)) return found;
  found = static_cast<const Isolation*>(dlsym(RTLD_DEFAULT, kIsolationName));
  if (!found) dlerror();  // the program must not find our failure
  return found;
}

// Publishes that pages are isolated.
void begin_with(const Isolation& found) noexcept {
  conversion_calls.let_calls_pass.store(found.let_calls_pass, std::memory_order_release);
  leave_moved_code.store(found.leave_moved_code, std::memory_order_release);
  isolation.store(&found, std::memory_order_release);
  conversion_calls.return_from_handler.store(found.return_from_handler, std::memory_order_release);
  allocation_hooks.made.store(offer_allocation, std::memory_order_release);
  if (!process_state.config.contention_by_pages) return;
  follow_allocations();
  allocation_hooks.released.store(record_released, std::memory_order_release);
}

void prepare() noexcept {
  const Config& config = process_state.config;
  if (!(config.repairs_isolate && config.contention) && !config.contention_by_pages) return;
  if (config.contention_by_pages)
    count(Counter::LooksForContention, static_cast<uint64_t>(ContentionSource::Pages));
  for (std::atomic<uint32_t>& pages : left_common) pages.store(0);  // the parent's, in a forked child
  const Isolation* const found = find_isolation();
  if (!found) return note_refusal("libprof-isolate.so was not loaded");
  // A forked child keeps its parent's.
  if (!isolation_signal) isolation_signal = unused_realtime_signal(mask_of(process_state.timer_signal));
  if (!isolation_signal) return note_refusal("the program uses all real-time signals");
  // Looks once: in a forked child, the loader's lock may be held by a thread that does not exist there.
  if (!c_library.high) dl_iterate_phdr(find_c_library, nullptr);
  if (config.contention_by_pages && !written_lines.start()) return note_refusal("out of memory");
  const Isolates pages = config.contention_by_pages ? Isolates::Written
                         : config.isolates_always   ? Isolates::Random
                                                    : Isolates::Requested;
  static constexpr ConvertedThreadSampling kSampling = {
      &process_state.timer_signal, leave_home, begin_as_converted, end_as_converted, come_home,
      take_sample_as_converted};
  const uint64_t samples = bit_of(SIGTRAP) | bit_of(process_state.timer_signal);
  const DirectLockCalls locks = take_direct_lock_calls();
  if (!found->start({isolation_signal,
                     samples,
                     pages,
                     record_outcome,
                     note_changed_line,
                     leave_out_thread,
                     note,
                     kSampling,
                     {locks.forbid, locks.at}}))
    return note_refusal(found->refusal() ? found->refusal() : "the process is a forked child");
  begin_with(*found);
}

void note_isolation() noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) note_totals(*with);
  if (finds_written_lines()) record_written_lines(0, ~uint64_t{0});
}

void finish() noexcept {
  note_isolation();
  conversion_calls.return_from_handler.store(nullptr, std::memory_order_release);
  const Isolation* const with = isolation.exchange(nullptr, std::memory_order_acq_rel);
  if (!with) return;
  allocation_hooks.made.store(nullptr, std::memory_order_relaxed);
  allocation_hooks.released.store(nullptr, std::memory_order_relaxed);
  with->end();
  const uint64_t conversions = note_totals(*with);
  if (const char* const why = with->refusal(); why && !conversions) note_refusal(why);
  if (process_state.config.contention_by_pages) note_what_was_not_seen(*with);
}

}  // namespace

constexpr Hooks kIsolationHooks{.kind = &isolation_kind,
                                .prepare = prepare,
                                .request_signals = request_signals,
                                .finish = finish,
                                .fork_child = reset_isolation_after_fork,
                                .thread_leaves = stay_home,
                                .exec = rest_isolation,
                                .sudden_end = note_isolation};

}  // namespace hpcrun

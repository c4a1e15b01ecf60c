// Isolation of pages begins and ends with measuring.

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>

#include "hpcrun/memory/isolating.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/state.h"
#include "repair/isolate/interface.h"

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

void tell(const PageNews& news) noexcept {
  write(news.why == WhyShared::None ? RepairKind::PageIsolated : RepairKind::PageShared, news.page, news.why,
        news.time_ns);
}

void note_refusal(const char* why) noexcept {
  static char line[256];
  snprintf(line, sizeof line, "Nothing was isolated: %s.", why);
  process_state.file.write_note(line);
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

uint64_t bit_of(int signal) noexcept {
  return signal ? uint64_t{1} << (signal - 1) : 0;
}

// How often a thread became a process.
uint64_t note_totals(const Isolation& with) noexcept {
  IsolationTotals totals;
  with.totals(totals);
  count(Counter::Conversions, totals.conversions);
  count(Counter::ConversionNanoseconds, totals.conversion_ns);
  count(Counter::LongestConversion, totals.longest_conversion_ns);
  count(Counter::PageCommits, totals.commits);
  count(Counter::CommitNanoseconds, totals.commit_ns);
  count(Counter::MergedWords, totals.merged_words);
  count(Counter::ConvertedNanoseconds, totals.twins_cpu_ns);
  return totals.conversions;
}

}  // namespace

void start_isolating(int signal) noexcept {
  if (!process_state.config.repairs_isolate || !process_state.config.contention) return;
  const auto* const found = static_cast<const Isolation*>(dlsym(RTLD_DEFAULT, kIsolationName));
  if (!found) {
    dlerror();  // the program must not find our failure
    return note_refusal("libhpcrun-isolate.so was not loaded");
  }
  if (!signal) return note_refusal("the program uses all real-time signals");
  // Once: in a forked child somebody who is gone may have the loader's lock.
  if (!c_library.high) dl_iterate_phdr(find_c_library, nullptr);
  const uint64_t samples = bit_of(SIGTRAP) | bit_of(process_state.timer_signal);
  if (!found->start({signal, samples, process_state.config.isolates_always, is_our_sample, tell}))
    return note_refusal(found->refusal() ? found->refusal() : "the process is the child of one that forked");
  isolation.store(found, std::memory_order_release);
}

void note_isolation() noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) note_totals(*with);
}

void finish_isolating() noexcept {
  const Isolation* const with = isolation.exchange(nullptr, std::memory_order_acq_rel);
  if (!with) return;
  with->end();
  const uint64_t conversions = note_totals(*with);
  if (const char* const why = with->refusal(); why && !conversions) note_refusal(why);
}

}  // namespace hpcrun

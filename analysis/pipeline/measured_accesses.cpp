#include "analysis/pipeline/measured_accesses.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "hpcrun/measurement/hardware_access.h"
#include "hpcrun/measurement/progress.h"

namespace prof {
namespace {

using hpcrun::AccessKind;

AccessKind kind_of(uint64_t bits) {
  return static_cast<AccessKind>(bits & (hpcrun::kAccessReads | hpcrun::kAccessWrites));
}

// An access of a thread, with the data that hardware recorded for it, if any.
struct RecordedAccess {
  MeasuredAccess measured;
  hpcrun::HardwareAccess hardware;
};

// True if the access can be located. A watchpoint hit that could not be decoded shows that a thread is there,
// but not at which bytes; hardware records at least the first byte.
bool is_usable(const RecordedAccess& access) {
  const MeasuredAccess& measured = access.measured;
  return ((measured.bits & hpcrun::kAccessExact) != 0 || access.hardware.period != 0) && measured.bytes > 0 &&
         measured.bytes <= hpcrun::kLineBytes &&
         (measured.bits & (hpcrun::kAccessReads | hpcrun::kAccessWrites)) != 0;
}

template <typename Visit>
void for_each_usable(const MeasuredThread& thread, Visit visit) {
  RecordReader<MeasuredAccess> reader = thread.accesses();
  RecordedAccess next;
  while (reader.next(next.measured)) {
    const MeasuredAccess& measured = next.measured;
    const bool is_hardware = measured.bits == hpcrun::kAccessHardware;
    if (!is_hardware && is_usable(next)) visit(next);
    next.hardware = is_hardware ? hpcrun::hardware_access(measured.address, measured.object, measured.bytes)
                                : hpcrun::HardwareAccess{};
  }
}

// Determines how to interpret transfers, which depends on what the hardware can record.
struct Seen {
  std::set<std::pair<uint32_t, uint64_t>> lines;  // at which a thread was observed, rather than assumed to be
  bool reports_snoops = false;  // if false, loads from caches that cores share count as transfers
};

Seen seen_lines(std::span<const ThreadInDatabase> threads) {
  Seen seen;
  for (const ThreadInDatabase& thread : threads)
    for_each_usable(*thread.thread, [&](const RecordedAccess& access) {
      if ((access.measured.bits & hpcrun::kAccessSeen) != 0)
        seen.lines.emplace(thread.profile, hpcrun::line_of(access.measured.address));
      seen.reports_snoops |= (access.hardware.load_bits & hpcrun::kLoadReportsSnoops) != 0;
    });
  return seen;
}

LineTransfers transfers_of(const hpcrun::HardwareAccess& hardware, bool reports_snoops) {
  const auto is = [&](uint32_t bits) { return (hardware.load_bits & bits) != 0; };
  if (!is(reports_snoops ? hpcrun::kLoadFromPeer : hpcrun::kLoadFromSharedCache)) return {};
  const auto loads = static_cast<double>(hardware.period);
  return {.samples = 1,
          .loads = loads,
          .modified = is(hpcrun::kLoadModified) ? loads : 0,
          .remote = is(hpcrun::kLoadModified) && is(hpcrun::kLoadRemote) ? loads : 0,
          .latency_cycles = static_cast<double>(hardware.cycles) * loads};
}

}  // namespace

std::vector<ContentionAccess> measured_accesses(
    std::span<const ThreadInDatabase> threads,
    const std::function<uint32_t(const MeasuredAccess&)>& object_of) {
  const Seen seen = seen_lines(threads);
  std::vector<ContentionAccess> all;
  for (const ThreadInDatabase& thread : threads) {
    for_each_usable(*thread.thread, [&](const RecordedAccess& recorded) {
      const MeasuredAccess& measured = recorded.measured;
      if (!seen.lines.contains({thread.profile, hpcrun::line_of(measured.address)})) return;
      ContentionAccess& access = all.emplace_back();
      access.thread = thread.profile;
      access.time_ns = measured.time_ns;
      access.address = measured.address;
      access.bytes = static_cast<uint16_t>(measured.bytes);
      access.kind = kind_of(measured.bits);
      access.weight_ns = measured.weight_ns;
      access.context = thread.context_of[measured.node];
      access.object = object_of(measured);
      if (recorded.hardware.period == 0) return;
      access.stands_for = recorded.hardware.period;
      access.transfers = transfers_of(recorded.hardware, seen.reports_snoops);
    });
  }
  return all;
}

std::vector<WrittenBytes> measured_writes(const ProcessMeasurement& measurement,
                                          std::span<const ThreadInDatabase> threads,
                                          const std::function<uint32_t(const MeasuredAccess&)>& object_of) {
  std::vector<WrittenBytes> all;
  // The count of updates is stored in one piece, and holds for the pieces of the same line and thread that
  // follow.
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> updates;
  for (const MeasuredWritten& written : measurement.written) {
    if (written.updates) updates[{written.line, written.thread}] = written.updates;
    const auto thread = std::ranges::find_if(
        threads, [&](const ThreadInDatabase& one) { return one.thread->index == written.thread; });
    if (thread == threads.end()) continue;
    MeasuredAccess place;
    place.address = written.line + static_cast<uint64_t>(std::countr_zero(written.bytes));
    place.object = written.object;
    all.push_back({thread->profile, written.line, written.bytes, object_of(place),
                   updates[{written.line, written.thread}], written.interleaved, written.true_sharing,
                   written.false_sharing, written.time_ns});
  }
  return all;
}

Paces measured_paces(std::span<const ThreadInDatabase> threads) {
  Paces paces;
  for (const ThreadInDatabase& thread : threads) {
    paces.add_thread(thread.profile, thread.thread->cpu_ns);
    RecordReader<MeasuredAccess> reader = thread.thread->accesses();
    for (MeasuredAccess measured; reader.next(measured);)
      if ((measured.bits & hpcrun::kAccessProgress) != 0)
        paces.add(thread.profile, {measured.address, hpcrun::progress_value(measured.bytes),
                                   hpcrun::progress_change(measured.object), measured.weight_ns,
                                   hpcrun::progress_is_alone(measured.bytes)});
  }
  return paces;
}

std::optional<EvidenceSource> contention_hardware(const ProcessMeasurement& measurement) {
  const auto source =
      static_cast<hpcrun::ContentionSource>(measurement.counter(hpcrun::Counter::LooksForContention));
  if (source == hpcrun::ContentionSource::Pebs) return EvidenceSource::Pebs;
  if (source == hpcrun::ContentionSource::Ibs) return EvidenceSource::Ibs;
  return std::nullopt;
}

}  // namespace prof

#include "hpcrun/contention/counted_writes.h"

#include "hpcrun/guest/clock.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

constinit WrittenLines written_lines;

void note_changed_line(uint64_t line, uint64_t bytes) noexcept {
  if (const ThreadState* const thread = this_thread()) written_lines.note(line, thread->index, bytes);
}

namespace {

// Writes a record for each object on the line, in the order of addresses. The first one has the counts.
void record(uint64_t line, WrittenLine::Writer writer, uint64_t now_ns) noexcept {
  WrittenRecord record{now_ns,
                       writer.thread,
                       line,
                       0,
                       0,
                       writer.updates,
                       writer.interleaved,
                       writer.true_sharing,
                       writer.false_sharing};
  constexpr uint32_t kGranule = AllocationMap::kGranule;  // at most one object begins in it
  constexpr uint64_t kOne = (uint64_t{1} << kGranule) - 1;
  for (uint32_t at = 0; at < kLineBytes; at += kGranule) {
    const uint64_t bytes = writer.bytes & kOne << at;
    if (!bytes) continue;
    const uint64_t object = object_at(line + static_cast<uint32_t>(__builtin_ctzll(bytes)));
    if (record.bytes && object != record.object) {
      process_state.file.write_written(record);
      record = {now_ns, writer.thread, line, 0, 0, 0, 0, 0, 0};
    }
    record.object = object;
    record.bytes |= bytes;
  }
  if (record.bytes) process_state.file.write_written(record);
}

}  // namespace

void record_released(uint64_t start) noexcept {
  FoundAllocation found;
  if (heap.map.find(start, found) && start - found.begin < AllocationMap::kGranule)
    record_written_lines(start, start + heap.sites.site(found.site).bytes);
}

void record_written_lines(uint64_t low, uint64_t high) noexcept {
  written_lines.for_each_in(low, high, [](uint64_t line, WrittenLine& status) {
    if (status.interleaved() > kMinInterleaved) {
      const uint64_t now_ns = monotonic_ns();
      WrittenLine::Writer writer;
      for (uint32_t place = 0; status.writer(place, writer); ++place) record(line, writer, now_ns);
    }
    status.clear();
  });
}

}  // namespace hpcrun

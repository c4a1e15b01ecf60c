#include "viewer/trace/mapped_traces.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/database/database.h"
#include "analysis/database/read.h"
#include "analysis/database/trace_extent.h"
#include "analysis/views/run/run_summary.h"
#include "viewer/trace/checksum.h"

namespace prof::viewer {
namespace {

// Traces belong to the first metric. Pauses are not part of a sample's weight, and records do not distinguish
// them from time without a processor.
bool have_weights_of_wall_clock(const Database& database) {
  return !database.metrics.empty() && database.metrics.front().name == "REALTIME" &&
         !run_summary(database).paused_s;
}

}  // namespace

MappedTraces::MappedTraces(const Database& database)
    : contexts_(static_cast<uint32_t>(database.contexts.size())),
      are_of_wall_clock_(have_weights_of_wall_clock(database)) {
  Checksum fingerprint;
  for (uint32_t profile = 0; profile < database.traces.size(); ++profile) {
    const auto extent = extent_of(database.traces[profile]);
    if (!extent) continue;
    if (!mapping_) {
      path_ = extent->file;
      ids_ = extent->contexts;
      mapping_ = Mapping(path_);
    }
    if (extent->end > mapping_.size())
      throw DatabaseError(
          DatabaseError::Kind::Unreadable,
          fmt::format(
              "{}: cannot be mapped, or was truncated; copy it again or analyze the measurements again",
              path_.string()));
    for (const uint64_t number : {uint64_t{profile}, extent->begin, extent->end}) fingerprint.add(number);
    const uint64_t records = (extent->end - extent->begin) / format::kTraceElementBytes;
    rows_.push_back({profile, mapping_.data() + extent->begin, records > 0 ? records - 1 : 0, 0, 0,
                     are_of_wall_clock_ && database.profiles[profile].id.device < 0});
    Row& row = rows_.back();
    if (row.segments == 0) continue;
    row.begin_ns = time(rows_.size() - 1, 0);
    row.end_ns = std::max(row.begin_ns, time(rows_.size() - 1, row.segments));
    begin_ns_ = end_ns_ == 0 ? row.begin_ns : std::min(begin_ns_, row.begin_ns);
    end_ns_ = std::max(end_ns_, row.end_ns);
  }
  fingerprint_ = fingerprint.value();
  for (uint32_t c = 0; ids_ && c < contexts_ && is_numbered_in_order_; ++c)
    is_numbered_in_order_ = ids_->find(c + 1) == c;
}

uint64_t MappedTraces::all_segments() const {
  uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.segments;
  return sum;
}

uint64_t MappedTraces::segment_at(size_t row, uint64_t time_ns, uint64_t begin, uint64_t end) const {
  while (end - begin > 1) {
    const uint64_t middle = begin + (end - begin) / 2;
    (time(row, middle) <= time_ns ? begin : end) = middle;
  }
  return begin;
}

uint32_t MappedTraces::find(uint32_t id) const {
  return id == 0 ? kNone : ids_->find(id);
}

void MappedTraces::release_pages(size_t row, uint64_t first_record, uint64_t last_record) const {
  mapping_.release_pages(static_cast<uint64_t>(at(row, first_record) - mapping_.data()),
                         static_cast<uint64_t>(at(row, last_record) - mapping_.data()));
}

}  // namespace prof::viewer

#pragma once
// Which rows a timeline shows, in which order, and what they are called.

#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

#include "analysis/database/model.h"
#include "viewer/trace/mapped_traces.h"

namespace prof::viewer {

struct TimelineRow {
  size_t row;  // in MappedTraces
  uint32_t profile;
  QString label;              // as `prof report --thread` takes it, and the name
  bool begins_group = false;  // another host, rank or process, or thread, than the row above
};

enum class RowOrder : uint8_t { Rank, Thread, Name };

// Of these profiles those whose label contains the filter, or matches it as a shell pattern; case does not
// matter, and several filters are parted by commas.
std::vector<TimelineRow> timeline_rows(const Database& database, const MappedTraces& traces,
                                       const std::vector<uint32_t>& profiles, const QString& filter,
                                       RowOrder order);

}  // namespace prof::viewer

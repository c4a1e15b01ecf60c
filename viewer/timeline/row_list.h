#pragma once
// The rows of a timeline, their order and labels: threads and device queues, in groups that can be opened and
// closed.

#include <QString>
#include <QStringList>
#include <cstdint>
#include <set>
#include <vector>

#include "analysis/database/model.h"
#include "viewer/trace/mapped_traces.h"

namespace prof::viewer {

struct TimelineRow {
  bool is_group() const { return profile == kNone; }

  std::vector<size_t> rows;        // indices in MappedTraces: one, or all of a group
  std::vector<uint32_t> profiles;  // of each of these
  uint32_t profile = kNone;
  QString label;        // as in `prof report --thread`, with the name; for a group what its rows share
  QString group;        // key of its group in RowGroups, also for the group itself; empty without groups
  bool is_open = true;  // the group that it is, or is in, is open
};

enum class RowOrder : uint8_t { Process, Node, Kind, Thread, Name };

// Remembers which groups the user opened or closed. Others are open as long as there are few rows.
class RowGroups {
 public:
  static constexpr size_t kMaxOpenRows = 64;

  bool is_open(const QString& group, size_t rows) const {
    return (rows <= kMaxOpenRows) != toggled_.contains(group);
  }
  void toggle(const QString& group) {
    if (!toggled_.erase(group)) toggled_.insert(group);
  }

 private:
  std::set<QString> toggled_;
};

// Returns the rows for those profiles, which must be ascending, whose label contains the filter or matches it
// as a shell pattern. Case is ignored, and commas separate several filters. If there is more than one group,
// each group with several rows begins with a row for all of it.
std::vector<TimelineRow> timeline_rows(const Database& database, const MappedTraces& traces,
                                       const std::vector<uint32_t>& profiles, const QString& filter,
                                       RowOrder order, const RowGroups& groups);

}  // namespace prof::viewer

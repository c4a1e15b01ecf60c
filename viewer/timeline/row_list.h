#pragma once
// Which rows a timeline shows, in which order, and what they are called: threads and device queues, in groups
// that are opened and closed.

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

  std::vector<size_t> rows;        // in MappedTraces: one, or all of a group
  std::vector<uint32_t> profiles;  // of each of these
  uint32_t profile = kNone;
  QString label;        // as `prof report --thread` takes it, and the name; of a group what its rows share
  QString group;        // the key of its group in RowGroups, also of the group itself; empty without groups
  bool is_open = true;  // the group that it is, or is in
};

enum class RowOrder : uint8_t { Process, Node, Kind, Thread, Name };

// Groups that the user opened or closed; the others are open while there are few rows.
class RowGroups {
 public:
  static constexpr size_t kMostOpenRows = 64;

  bool is_open(const QString& group, size_t rows) const {
    return (rows <= kMostOpenRows) != toggled_.contains(group);
  }
  void toggle(const QString& group) {
    if (!toggled_.erase(group)) toggled_.insert(group);
  }

 private:
  std::set<QString> toggled_;
};

// Of these profiles those whose label contains the filter, or matches it as a shell pattern; case does not
// matter, and several filters are parted by commas. Where they are of more than one group, each group of
// several begins with a row for all of it.
std::vector<TimelineRow> timeline_rows(const Database& database, const MappedTraces& traces,
                                       const std::vector<uint32_t>& profiles, const QString& filter,
                                       RowOrder order, const RowGroups& groups);

}  // namespace prof::viewer

#include "viewer/timeline/row_list.h"

#include <QRegularExpression>
#include <algorithm>
#include <tuple>

#include "analysis/views/selection.h"

namespace prof::viewer {

namespace {

class Filter {
 public:
  explicit Filter(const QString& text) {
    for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
      const QString word = part.trimmed();
      if (word.isEmpty()) continue;
      words_ << word;
      patterns_.emplace_back(QRegularExpression::wildcardToRegularExpression(word),
                             QRegularExpression::CaseInsensitiveOption);
    }
  }
  bool takes(const QString& label) const {
    if (words_.isEmpty()) return true;
    const auto contains = [&](const QString& word) { return label.contains(word, Qt::CaseInsensitive); };
    const auto matches = [&](const QRegularExpression& pattern) { return pattern.match(label).hasMatch(); };
    return std::any_of(words_.begin(), words_.end(), contains) ||
           std::any_of(patterns_.begin(), patterns_.end(), matches);
  }

 private:
  QStringList words_;
  std::vector<QRegularExpression> patterns_;
};

using Group = std::tuple<std::string, int32_t, int32_t>;

// What rows of one group have in common.
Group group_of(const ProfileId& id, RowOrder order) {
  switch (order) {
    case RowOrder::Rank:
      return {id.host, id.rank, id.process};
    case RowOrder::Thread:
      return {"", id.thread, id.queue};
    case RowOrder::Name:
      return {id.thread_name, 0, 0};
  }
  return {};
}

}  // namespace

std::vector<TimelineRow> timeline_rows(const Database& database, const MappedTraces& traces,
                                       const std::vector<uint32_t>& profiles, const QString& text,
                                       RowOrder order) {
  const Filter filter(text);
  std::vector<TimelineRow> rows;
  for (size_t row = 0; row < traces.rows(); ++row) {
    const uint32_t profile = traces.profile(row);
    if (!std::binary_search(profiles.begin(), profiles.end(), profile)) continue;
    const QString label = QString::fromStdString(thread_label(database, profile));
    if (filter.takes(label)) rows.push_back({row, profile, label});
  }
  const auto group = [&](const TimelineRow& row) {
    return group_of(database.profiles[row.profile].id, order);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const TimelineRow& one, const TimelineRow& other) {
    return group(one) < group(other);
  });
  for (size_t i = 1; i < rows.size(); ++i) rows[i].begins_group = group(rows[i]) != group(rows[i - 1]);
  return rows;
}

}  // namespace prof::viewer

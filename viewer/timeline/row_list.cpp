#include "viewer/timeline/row_list.h"

#include <QRegularExpression>
#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

#include "analysis/views/tree/selection.h"

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

enum class Kind : int32_t { MainThread, Thread, Queue };

Kind kind_of(const ProfileId& id) {
  if (id.device >= 0) return Kind::Queue;
  return id.thread == 0 ? Kind::MainThread : Kind::Thread;
}

// Properties that the rows of a group share. Groups are sorted by it.
using Group = std::tuple<std::string, int32_t, int32_t>;

Group group_of(const ProfileId& id, RowOrder order) {
  switch (order) {
    case RowOrder::Process:
      return {id.host, id.rank, id.process};
    case RowOrder::Node:
      return {id.host, 0, 0};
    case RowOrder::Kind:
      return {"", static_cast<int32_t>(kind_of(id)), 0};
    case RowOrder::Thread:
      return {"", id.thread, id.queue};
    case RowOrder::Name:
      return {id.thread_name, 0, 0};
  }
  return {};
}

QString label_of(const ProfileId& id, RowOrder order) {
  const QString host = QString::fromStdString(id.host);
  const auto on_host = [&](const QString& what) { return host.isEmpty() ? what : what + " on " + host; };
  switch (order) {
    case RowOrder::Process:
      return on_host(id.rank >= 0 ? QString("rank %1").arg(id.rank) : QString("process %1").arg(id.process));
    case RowOrder::Node:
      return host.isEmpty() ? "unknown node" : host;
    case RowOrder::Kind:
      return kind_of(id) == Kind::MainThread ? "main threads"
             : kind_of(id) == Kind::Thread   ? "other threads"
                                             : "device queues";
    case RowOrder::Thread:
      return id.device >= 0 ? QString("queue %1").arg(id.queue) : QString("thread %1").arg(id.thread);
    case RowOrder::Name:
      return id.thread_name.empty() ? "without a name" : QString::fromStdString(id.thread_name);
  }
  return {};
}

}  // namespace

std::vector<TimelineRow> timeline_rows(const Database& database, const MappedTraces& traces,
                                       const std::vector<uint32_t>& profiles, const QString& text,
                                       RowOrder order, const RowGroups& groups) {
  assert(std::ranges::is_sorted(profiles));
  const Filter filter(text);
  std::vector<TimelineRow> threads;
  std::map<Group, TimelineRow> of_groups;
  const auto group = [&](const TimelineRow& row) {
    return group_of(database.profiles[row.profile].id, order);
  };
  for (size_t row = 0; row < traces.rows(); ++row) {
    const uint32_t profile = traces.profile(row);
    if (!std::binary_search(profiles.begin(), profiles.end(), profile)) continue;
    const QString label = QString::fromStdString(thread_label(database, profile));
    if (!filter.takes(label)) continue;
    threads.push_back({{row}, {profile}, profile, label, {}, true});
    TimelineRow& all = of_groups[group(threads.back())];
    all.rows.push_back(row);
    all.profiles.push_back(profile);
    if (all.label.isEmpty()) all.label = label_of(database.profiles[profile].id, order);
  }
  std::stable_sort(threads.begin(), threads.end(), [&](const TimelineRow& one, const TimelineRow& other) {
    return group(one) < group(other);
  });
  if (of_groups.size() < 2) return threads;
  std::vector<TimelineRow> rows;
  auto next = threads.begin();
  for (auto& [key, all] : of_groups) {
    if (all.rows.size() == 1) {  // a heading would add nothing
      rows.push_back(std::move(*next++));
      continue;
    }
    all.group = all.label + QString(" (%1)").arg(static_cast<int>(order));
    all.is_open = groups.is_open(all.group, threads.size());
    rows.push_back(all);
    for (size_t i = 0; i < all.rows.size(); ++i, ++next) {
      if (!all.is_open) continue;
      next->group = all.group;
      rows.push_back(std::move(*next));
    }
  }
  return rows;
}

}  // namespace prof::viewer

// Describes one instant: in the call stack of a timeline page, and in the tooltip of its picture.

#include <map>

#include "analysis/views/tree/source_locations.h"
#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/timeline/time_axis.h"
#include "viewer/timeline/timeline_page.h"

namespace prof::viewer {

namespace {

constexpr size_t kMaxTooltipLines = 24;

QString running_at(const MappedTraces& traces, const TimelineRow& group, uint64_t time_ns) {
  size_t running = 0;
  for (const size_t row : group.rows) {
    const auto found = instant_at(traces, row, time_ns);
    running += found && found->context != kNone;
  }
  return QString("%1 of %2 rows were active").arg(running).arg(group.rows.size());
}

}  // namespace

void TimelinePage::show_stack() {
  stack_model_.clear();
  stack_model_.setHorizontalHeaderLabels({"Call stack"});
  const auto cursor = view_->cursor();
  make_room_for_stack(cursor.has_value());
  if (!cursor) {
    stack_title_->setText("Click in the timeline to see the call stack at that time");
    return;
  }
  const TimelineRow& row = view_->rows()[cursor->row];
  if (row.is_group()) {
    stack_title_->setText(row.label + ": " + running_at(document().traces().mapped(), row, cursor->time_ns));
    return;
  }
  const auto found = instant_at(document().traces().mapped(), row.rows.front(), cursor->time_ns);
  stack_title_->setText(row.label + " at " +
                        instant(cursor->time_ns, view_->whole().begin_ns, view_->shown()) +
                        (found ? ", for " + duration(found->end_ns - found->begin_ns) : QString()));
  if (found && found->context != kNone)
    add_to_stack(found->context);
  else
    stack_model_.appendRow(
        new QStandardItem(found ? format_no_context(document().traces().mapped()) : "(not recorded)"));
}

// Adds the frames from the entry point on. A frame's line is the one that runs, or calls the next frame.
void TimelinePage::add_to_stack(uint32_t context) {
  const CallTree& tree = document().measured_tree();
  const std::vector<Context>& contexts = document().database().contexts;
  std::map<uint32_t, SourceLocation> location_of_node;
  for (uint32_t c = context; c != kNone; c = contexts[c].parent)
    if (const SourceLocation location = location_of(contexts[c]); location.known())
      location_of_node.try_emplace(tree.node_of[c], location);
  for (const uint32_t node : path_of(tree, context)) {
    const uint32_t frame = tree.nodes[node].frame;
    auto* const item = new QStandardItem(names_[frame]);
    QPixmap swatch(10, 10);
    swatch.fill(QColor(colour_of_function(names_[frame].toStdString())));
    item->setIcon(swatch);
    item->setToolTip(names_[frame]);
    item->setData(frame, kFrameRole);
    item->setData(tree.nodes[node].depth, kDepthRole);
    if (const auto at = location_of_node.find(node); at != location_of_node.end()) {
      const SourceLocation& location = at->second;
      item->setData(location.file, kFileRole);
      item->setData(location.line, kLineRole);
      item->setToolTip(names_[frame] + "\n" +
                       QString::fromStdString(document().database().files[location.file].path) + ":" +
                       QString::number(location.line));
    }
    stack_model_.appendRow(item);
    if (tree.nodes[node].depth == depth()) stack_->setCurrentIndex(item->index());
  }
}

QString TimelinePage::describe(const TimelineView::Cursor& cursor) const {
  const TimelineRow& row = view_->rows()[cursor.row];
  QString text = "<b>" + row.label.toHtmlEscaped() + "</b><br>";
  if (row.is_group()) return text + running_at(document().traces().mapped(), row, cursor.time_ns);
  const auto found = instant_at(document().traces().mapped(), row.rows.front(), cursor.time_ns);
  if (!found) return text + "not recorded at this time";
  const uint64_t origin = view_->whole().begin_ns;
  const auto exact = [&](uint64_t time) {
    return QString::number(static_cast<double>(time - origin) / 1e9, 'f', 9) + " s";
  };
  text += exact(found->begin_ns) + " to " + exact(found->end_ns) + " (" +
          QString::number(found->end_ns - found->begin_ns) + " ns)" + describe_task(cursor);
  if (found->context == kNone)
    return text + (document().traces().mapped().are_of_wall_clock() ? "<br>no samples" : "<br>nothing ran");
  const CallTree& tree = document().measured_tree();
  const std::vector<uint32_t> path = path_of(tree, found->context);
  const size_t skipped = path.size() > kMaxTooltipLines ? path.size() - kMaxTooltipLines : 0;
  if (skipped > 0) text += QString("<br>... %1 more").arg(skipped);
  for (size_t i = skipped; i < path.size(); ++i)
    text += "<br>" + names_[tree.nodes[path[i]].frame].toHtmlEscaped();
  return text;
}

QString TimelinePage::describe_task(const TimelineView::Cursor& cursor) const {
  if (!launches_) return {};
  const Database& database = document().database();
  const uint32_t queue = view_->rows()[cursor.row].profile;
  const LaunchTable::Found found = launches_->table().run_by(queue, {cursor.time_ns, cursor.time_ns + 1}, 1);
  if (found.empty()) return {};
  const DeviceLaunch& task = *found.front();
  const QString who = task.thread == kNone ? "a thread that was not measured"
                                           : QString::fromStdString(thread_label(database, task.thread));
  return "<br>" + QString::fromStdString(database.task_names[task.task]).toHtmlEscaped() + ", submitted by " +
         who.toHtmlEscaped() + " " + duration(task.start_ns - task.submit_ns) + " before it started";
}

}  // namespace prof::viewer

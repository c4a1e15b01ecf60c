#include "viewer/document/document.h"

#include <numeric>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/views/selection.h"
#include "viewer/document/traces.h"

namespace prof::viewer {

Document::Document(const std::filesystem::path& directory)
    : directory_(directory),
      database_(std::make_unique<const Database>(read_database(directory))),
      run_(run_summary(*database_)),
      threads_(database_->profiles.size()) {
  std::iota(threads_.begin(), threads_.end(), 0u);
  rebuild();
}

Document::~Document() {
  // Among them what reads the database in the background.
  qDeleteAll(findChildren<QObject*>(QString(), Qt::FindDirectChildrenOnly));
}

Traces& Document::traces() {
  if (!traces_) traces_ = std::make_unique<Traces>(*database_);
  return *traces_;
}

void Document::rebuild() {
  if (tree_) emit tree_will_change();
  Selection selection = select(*database_, {}, {});
  if (!has_all_threads()) {
    selection.profiles = threads_;
    selection.every_profile = false;
  }
  tree_ = std::make_shared<const CallTree>(build_call_tree(*database_, selection, merges_));
}

void Document::choose_metric(size_t position) {
  if (position >= tree_->metrics() || position == metric_) return;
  metric_ = position;
  emit metric_changed();
}

void Document::choose_threads(std::vector<uint32_t> profiles) {
  if (profiles == threads_) return;
  threads_ = std::move(profiles);
  rebuild();
  emit tree_changed();
}

void Document::choose_all_threads() {
  std::vector<uint32_t> all(database_->profiles.size());
  std::iota(all.begin(), all.end(), 0u);
  choose_threads(std::move(all));
}

void Document::merge_recursion(bool is_merged) {
  if (is_merged == merges_) return;
  merges_ = is_merged;
  rebuild();
  emit tree_changed();
}

void Document::show_time(std::optional<TimeRange> range) {
  if (range == shown_time_) return;
  shown_time_ = range;
  emit shown_time_changed();
}

void Document::choose_depth(std::optional<uint32_t> depth) {
  if (depth == depth_) return;
  depth_ = depth;
  emit depth_changed();
}

}  // namespace prof::viewer

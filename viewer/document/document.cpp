#include "viewer/document/document.h"

#include <numeric>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/views/selection.h"

namespace prof::viewer {

Document::Document(const std::filesystem::path& directory)
    : directory_(directory),
      database_(std::make_unique<const Database>(read_database(directory))),
      run_(run_summary(*database_)),
      threads_(database_->profiles.size()) {
  std::iota(threads_.begin(), threads_.end(), 0u);
  rebuild();
}

Document::~Document() = default;

void Document::rebuild() {
  if (tree_) emit tree_will_change();
  Selection selection = select(*database_, {}, {});
  if (!has_all_threads()) {
    selection.profiles = threads_;
    selection.every_profile = false;
  }
  tree_ = std::make_unique<const CallTree>(build_call_tree(*database_, selection, merges_));
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

void Document::merge_recursion(bool is_merged) {
  if (is_merged == merges_) return;
  merges_ = is_merged;
  rebuild();
  emit tree_changed();
}

}  // namespace prof::viewer

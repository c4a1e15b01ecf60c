#include "viewer/document/document.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/database/stored_values.h"
#include "analysis/views/tree/selection.h"
#include "viewer/document/other_run.h"
#include "viewer/document/timed_database.h"
#include "viewer/document/traces.h"
#include "viewer/document/words.h"

namespace prof::viewer {

namespace {

// Keeps the database alive as long as the tree, which background threads may have.
std::shared_ptr<const CallTree> tree_of(std::shared_ptr<const Database> database, const Selection& selection,
                                        bool merges) {
  auto* const tree = new CallTree(build_call_tree(*database, selection, merges));
  return {tree, [database](const CallTree* old) { delete old; }};
}

}  // namespace

// Rejects a damaged database as a whole, because damage that is found later could not be reported. Values are
// read when they are shown.
OpenedDatabase open_database(const std::filesystem::path& directory) {
  Database read = read_database(directory, ReadValues::WhenAskedFor);
  if (read.stored) read.stored->check_profiles();
  const auto database = std::make_shared<const Database>(std::move(read));
  return {directory, database, run_summary(*database), tree_of(database, select(*database, {}, {}), false)};
}

Document::Document(OpenedDatabase opened)
    : directory_(std::move(opened.directory)),
      database_(std::move(opened.database)),
      run_(std::move(opened.run)),
      measured_tree_(std::move(opened.tree)),
      threads_(database_->profiles.size()) {
  std::iota(threads_.begin(), threads_.end(), 0u);
  take_tree(nullptr);
}

Document::~Document() {
  // These include objects that read the database in the background.
  qDeleteAll(findChildren<QObject*>(QString(), Qt::FindDirectChildrenOnly));
}

Traces& Document::traces() {
  if (traces_) return *traces_;
  traces_ = std::make_unique<Traces>(*database_);
  connect(traces_.get(), &Traces::ready, this, [this] {
    if (is_time_awaited()) take_time();
  });
  connect(traces_.get(), &Traces::not_ready, this, [this](const QString& why) {
    if (is_time_awaited()) give_up_time(why.isEmpty() ? "the traces were not indexed: canceled" : why);
  });
  return *traces_;
}

std::shared_ptr<const CallTree> Document::tree_of(std::shared_ptr<const Database> database) const {
  Selection selection = select(*database, {}, {});
  if (!has_all_threads()) {
    selection.profiles = threads_;
    selection.every_profile = false;
  }
  return viewer::tree_of(std::move(database), selection, merges_);
}

void Document::take_tree(const PreparedTree* prepared) {
  const std::string shown = tree_ && tree_->metrics() > 0 ? tree_->metric(metric_).name : "";
  tree_ = other_ ? tree_of_both(prepared) : timed_ ? tree_of(timed_) : measured_tree_;
  metric_ = 0;
  for (const std::string& wanted : {measured_metric_, shown})
    for (size_t m = 0; m < tree_->distinct_metrics(); ++m)
      if (tree_->metric(m).name == wanted) metric_ = m;
}

std::shared_ptr<const CallTree> Document::tree_of_both(const PreparedTree* prepared) const {
  const ComparisonOptions options{merges_, comparing_.same_total, comparing_.is_other_before};
  const bool is_prepared = prepared && prepared->measured == measured_tree_ && prepared->options == options;
  return is_prepared ? prepared->tree : compare_runs(other_, *measured_tree_, options);
}

void Document::rebuild() {
  if (tree_) emit tree_will_change();
  measured_tree_ = tree_of(database_);
  take_tree(nullptr);
}

void Document::choose_metric(size_t position) {
  if (position >= tree_->distinct_metrics() || position == metric_) return;
  metric_ = position;
  if (!timed_) measured_metric_ = tree_->metric(position).name;
  emit metric_changed();
}

void Document::choose_time(std::optional<TimeRange> range) {
  if (range == chosen_time_ || (range && traces().mapped().all_segments() == 0)) return;
  if (range) end_comparison();
  chosen_time_ = range;
  const bool has_index = range && traces().index();
  if (!has_index) timed_.reset();
  emit chosen_time_changed();
  if (has_index || !range)
    take_time();
  else
    traces().want_index();
}

QString Document::format_chosen_time() const {
  if (!chosen_time_) return {};
  constexpr double kNsPerSecond = 1e9;
  constexpr int kDigitsOfNs = 9;
  int digits = kDigitsOfNs;  // enough to distinguish a hundredth of it
  for (uint64_t rest = chosen_time_->ns() / 1000; digits > 0 && rest > 0; rest /= 10) --digits;
  const auto seconds = [&](uint64_t ns) {
    const auto since = static_cast<double>(ns - std::min(ns, traces_->mapped().begin_ns()));
    return QString::number(since / kNsPerSecond, 'f', digits) + " s";
  };
  return seconds(chosen_time_->begin_ns) + " to " + seconds(chosen_time_->end_ns) + " (" +
         duration(chosen_time_->ns()) + ")";
}

void Document::take_time() {
  if (!chosen_time_ && tree_ == measured_tree_) return;
  emit tree_will_change();
  timed_ =
      chosen_time_
          ? std::make_shared<const Database>(timed_database(*database_, *traces().index(), *chosen_time_))
          : nullptr;
  if (timed_) traces_->give_back();
  take_tree(nullptr);
  emit tree_changed();
}

void Document::give_up_time(const QString& why) {
  choose_time({});
  emit time_not_chosen(why);
}

void Document::compare_with(std::shared_ptr<const OtherRun> other, const Comparing& how,
                            const PreparedTree* prepared) {
  if (other == other_) return;
  if (other) choose_time({});  // traces belong to the opened run only
  emit tree_will_change();
  other_ = std::move(other);
  comparing_ = how;
  take_tree(prepared);
  emit tree_changed();
  emit comparison_changed();
}

void Document::choose_comparing(const Comparing& how) {
  if (!other_ || how == comparing_) return;
  emit tree_will_change();
  comparing_ = how;
  take_tree(nullptr);
  emit tree_changed();
  emit comparison_changed();
}

const std::filesystem::path& Document::directory_of_file(uint32_t file) const {
  return other_ && file >= database_->files.size() ? other_->directory : directory_;
}

template <typename Choice>
void Document::rebuild_with(Choice& choice, Choice chosen) {
  std::swap(choice, chosen);
  try {
    rebuild();
  } catch (...) {
    choice = std::move(chosen);
    emit tree_changed();  // pages have released it
    throw;
  }
}

void Document::choose_threads(std::vector<uint32_t> profiles) {
  assert(std::ranges::adjacent_find(profiles, std::greater_equal()) == profiles.end());
  if (profiles == threads_) return;
  rebuild_with(threads_, std::move(profiles));
  emit tree_changed();
}

void Document::choose_all_threads() {
  std::vector<uint32_t> all(database_->profiles.size());
  std::iota(all.begin(), all.end(), 0u);
  choose_threads(std::move(all));
}

void Document::merge_recursion(bool is_merged) {
  if (is_merged == merges_) return;
  rebuild_with(merges_, is_merged);
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

bool Document::has_function(const std::string& name) const {
  std::vector<bool> is_named(tree_->frames.size());
  for (uint32_t frame = 0; frame < tree_->frames.size(); ++frame)
    is_named[frame] = frame_name(*tree_->database, tree_->frames[frame]) == name;
  if (std::ranges::find(is_named, true) == is_named.end()) return false;
  for (size_t m = 0; m < tree_->metrics(); ++m)
    for (uint32_t node = 0; node < tree_->nodes.size(); ++node)
      if (is_named[tree_->nodes[node].frame] && tree_->cost(node, m).inclusive != 0) return true;
  return false;
}

void Document::ask_for_function(const std::string& name) {
  std::vector<bool> is_named(tree_->frames.size());
  for (uint32_t frame = 0; frame < tree_->frames.size(); ++frame)
    is_named[frame] = frame_name(*tree_->database, tree_->frames[frame]) == name;
  const auto first = std::ranges::find(is_named, true);
  if (first == is_named.end()) return;
  auto dearest = static_cast<uint32_t>(first - is_named.begin());
  double most = 0;
  for (uint32_t node = 0; node < tree_->nodes.size() && tree_->metrics() > 0; ++node) {
    if (!is_named[tree_->nodes[node].frame]) continue;
    const double cost = tree_->cost(node, metric_).inclusive;
    if (cost <= most) continue;
    most = cost;
    dearest = tree_->nodes[node].frame;
  }
  emit function_asked(dearest);
}

}  // namespace prof::viewer

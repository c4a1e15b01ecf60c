#pragma once
// The opened database and what of it is chosen: which time, which threads, which metrics. Every page shows
// the same choice, and learns by signals that it changed. Lives in the window's thread; nothing of it blocks
// for longer than a repaint but the opening.

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/call_tree.h"
#include "analysis/views/run_summary.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

class Traces;

class Document : public QObject {
  Q_OBJECT

 public:
  // Reads the database. Throws DatabaseError.
  explicit Document(const std::filesystem::path& directory);
  ~Document() override;

  const std::filesystem::path& directory() const { return directory_; }
  const Database& database() const { return *database_; }
  const RunSummary& run() const { return run_; }
  // Mapped when they are first asked for. Throws DatabaseError.
  Traces& traces();

  // What the chosen threads spent in each call path, of all metrics that were measured.
  const CallTree& tree() const { return *tree_; }
  // The same, for what computes in the background: stays as it is when another one takes its place, and must
  // be gone before the document's end, which deletes the document's children first.
  std::shared_ptr<const CallTree> shared_tree() const { return tree_; }
  // The position in tree().selection.metrics that pages show first.
  size_t metric() const { return metric_; }
  // Indices into Database::profiles, rising.
  const std::vector<uint32_t>& threads() const { return threads_; }
  bool has_all_threads() const { return threads_.size() == database().profiles.size(); }

  // What of the traces is in front: nothing for all the time, and for the innermost frames.
  const std::optional<TimeRange>& shown_time() const { return shown_time_; }
  std::optional<uint32_t> depth() const { return depth_; }

  // Each emits the signal below, where it changes anything.
  void choose_metric(size_t position);
  void choose_threads(std::vector<uint32_t> profiles);
  void choose_all_threads();
  void merge_recursion(bool is_merged);
  void show_time(std::optional<TimeRange> range);
  void choose_depth(std::optional<uint32_t> depth);
  bool is_recursion_merged() const { return merges_; }

  // Where the user goes, from any page.
  void ask_for_page(const QString& id) { emit page_asked(id); }
  void ask_for_source(uint32_t file, uint32_t line) { emit source_asked(file, line); }
  void ask_for_function(uint32_t frame) { emit function_asked(frame); }
  // The page that has the evidence of a finding, and there the place of it.
  void ask_for_finding(const QString& page, const QString& sentence) {
    emit page_asked(page);
    emit finding_asked(page, sentence);
  }

 signals:
  // tree() will be another one: the last time to say what its nodes are.
  void tree_will_change();
  // tree() is another one: nodes and frames of the one before mean nothing any more.
  void tree_changed();
  void metric_changed();
  void shown_time_changed();
  void depth_changed();
  // `file` is an index into Database::files.
  void source_asked(uint32_t file, uint32_t line);
  // `frame` is an index into CallTree::frames: pages that show functions choose it.
  void function_asked(uint32_t frame);
  void page_asked(const QString& id);
  void finding_asked(const QString& page, const QString& sentence);

 private:
  void rebuild();

  std::filesystem::path directory_;
  std::unique_ptr<const Database> database_;
  RunSummary run_;
  std::unique_ptr<Traces> traces_;
  std::shared_ptr<const CallTree> tree_;
  std::vector<uint32_t> threads_;
  size_t metric_ = 0;
  std::optional<TimeRange> shown_time_;
  std::optional<uint32_t> depth_;
  bool merges_ = false;
};

}  // namespace prof::viewer

#pragma once
// The opened database and the selection from it: a time range, threads, a metric. Every page shows the same
// selection and receives signals when it changes. Lives in the window's thread; nothing in it blocks for
// longer than a repaint.

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

class Traces;
struct OtherRun;
struct PreparedTree;

// A database as it was opened, with all threads selected.
struct OpenedDatabase {
  std::filesystem::path directory;
  std::shared_ptr<const Database> database;
  RunSummary run;
  std::shared_ptr<const CallTree> tree;
};

// Reads the database, which takes seconds for millions of contexts. From any thread. Throws DatabaseError.
OpenedDatabase open_database(const std::filesystem::path& directory);

// The roles of the opened run and the compared run in the pages.
struct Comparing {
  bool same_total = false;       // scale the other run's costs to the opened one's totals
  bool is_other_before = false;  // otherwise the opened run is the one before

  bool operator==(const Comparing&) const = default;
};

class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(OpenedDatabase opened);
  // Reads the database. Throws DatabaseError.
  explicit Document(const std::filesystem::path& directory) : Document(open_database(directory)) {}
  ~Document() override;

  const std::filesystem::path& directory() const { return directory_; }
  // The database as it was opened: threads, records of the run and traces. The values, metrics and names that
  // pages show are those of tree().database, which may be another one.
  const Database& database() const { return *database_; }
  const RunSummary& run() const { return run_; }
  // Maps the traces at the first call. Throws DatabaseError.
  Traces& traces();

  // The tree that pages show: the cost of each call path in the selected threads, for all metrics of
  // tree().database. That database has the contexts, files, modules and profiles of database() under the same
  // indices. It may have further ones after these, and other functions, metrics and values.
  const CallTree& tree() const { return *tree_; }
  // The same for background computations. The tree does not change when another one replaces it. It must be
  // released before the document is destroyed, which deletes the document's children first.
  std::shared_ptr<const CallTree> shared_tree() const { return tree_; }
  // The measured tree of the selected threads, from database(), whatever tree() shows. Findings, records of
  // the run and traces refer to it.
  const CallTree& measured_tree() const { return *measured_tree_; }
  std::shared_ptr<const CallTree> shared_measured_tree() const { return measured_tree_; }
  // The position in tree().selection.metrics of the metric that pages show first.
  size_t metric() const { return metric_; }
  // Indices into the profiles of database(), ascending.
  const std::vector<uint32_t>& threads() const { return threads_; }
  bool has_all_threads() const { return threads_.size() == database().profiles.size(); }

  // The time range of tree(), from the traces; empty for the whole run, as it was measured.
  const std::optional<TimeRange>& chosen_time() const { return chosen_time_; }
  // Returns "1.500 s to 2.250 s (750 ms)", from the start of the traces; empty for the whole run.
  QString format_chosen_time() const;
  // True while the traces are being indexed. Until then tree() covers the whole run.
  bool is_time_awaited() const { return chosen_time_ && !timed_; }

  // The part of the traces that is shown. Empty for the whole time, and for the innermost frames.
  const std::optional<TimeRange>& shown_time() const { return shown_time_; }
  std::optional<uint32_t> depth() const { return depth_; }

  // Each emits the signal below if it changes anything.
  void choose_metric(size_t position);
  void choose_threads(std::vector<uint32_t> profiles);
  void choose_all_threads();
  void merge_recursion(bool is_merged);
  // tree() then covers that time only, and has only the metrics of timed_database(). Waits for the index of
  // the traces if there is none yet. Does nothing without traces. Throws DatabaseError.
  void choose_time(std::optional<TimeRange> range);
  void show_time(std::optional<TimeRange> range);
  void choose_depth(std::optional<uint32_t> depth);
  bool is_recursion_merged() const { return merges_; }

  // Makes tree() the tree of both runs (CallTree::compared), over the whole time. It ends a selection of
  // time, and selecting a time ends the comparison. `prepared` is used if it is still the tree that is
  // needed.
  void compare_with(std::shared_ptr<const OtherRun> other, const Comparing& how = {},
                    const PreparedTree* prepared = nullptr);
  // Makes tree() the tree of the opened run again.
  void end_comparison() { compare_with(nullptr); }
  void choose_comparing(const Comparing& how);
  // Returns nullptr if the opened run is not compared.
  const OtherRun* other_run() const { return other_.get(); }
  const Comparing& comparing() const { return comparing_; }
  // Returns which of the compared databases has the copy of this file of tree().database.
  const std::filesystem::path& directory_of_file(uint32_t file) const;

  // Request another place, from any page.
  void ask_for_page(const QString& id) { emit page_asked(id); }
  void ask_for_source(uint32_t file, uint32_t line) { emit source_asked(file, line); }
  void ask_for_function(uint32_t frame) { emit function_asked(frame); }
  // Goes to the function with that name, the most expensive one if there are several. Does nothing if tree()
  // has none.
  void ask_for_function(const std::string& name);
  // True if tree() has costs of a function with this name.
  bool has_function(const std::string& name) const;
  // Goes to that time in the timeline.
  void ask_for_moment(const Moment& moment) {
    emit page_asked("timeline");
    emit moment_asked(moment);
  }
  // Requests the page with the evidence of a finding, and the finding's place on it, by its id.
  void ask_for_finding(const QString& page, const QString& finding) {
    emit page_asked(page);
    emit finding_asked(page, finding);
  }

 signals:
  // Emitted before tree() changes: the last chance to read its nodes.
  void tree_will_change();
  // Emitted after tree() has changed: nodes and frames of the previous tree are invalid.
  void tree_changed();
  void metric_changed();
  // Emitted before tree() covers the new time.
  void chosen_time_changed();
  // Emitted if selecting a time failed, and the whole run is selected again. `why` is one line.
  void time_not_chosen(const QString& why);
  void shown_time_changed();
  void depth_changed();
  // Emitted after other_run() or comparing() has changed, and after tree_changed().
  void comparison_changed();
  // `file` is an index into the files of tree().database.
  void source_asked(uint32_t file, uint32_t line);
  // `frame` is an index into CallTree::frames. Pages that show functions select it.
  void function_asked(uint32_t frame);
  void page_asked(const QString& id);
  void moment_asked(const Moment& moment);
  // `finding` is a Finding::id.
  void finding_asked(const QString& page, const QString& finding);

 private:
  std::shared_ptr<const CallTree> tree_of(std::shared_ptr<const Database> database) const;
  // Replaces tree_ by the tree of the current selection.
  void take_tree(const PreparedTree* prepared);
  std::shared_ptr<const CallTree> tree_of_both(const PreparedTree* prepared) const;
  // Leaves everything unchanged if the data can no longer be read.
  template <typename Choice>
  void rebuild_with(Choice& choice, Choice chosen);
  void rebuild();
  void take_time();
  void give_up_time(const QString& why);

  std::filesystem::path directory_;
  std::shared_ptr<const Database> database_;
  RunSummary run_;
  std::unique_ptr<Traces> traces_;
  std::shared_ptr<const CallTree> measured_tree_, tree_;
  std::optional<TimeRange> chosen_time_;
  std::shared_ptr<const Database> timed_;  // of the selected time, once it is known
  std::string measured_metric_;            // the metric of measured_tree_ that was selected last
  std::vector<uint32_t> threads_;
  size_t metric_ = 0;
  std::optional<TimeRange> shown_time_;
  std::optional<uint32_t> depth_;
  bool merges_ = false;
  std::shared_ptr<const OtherRun> other_;
  Comparing comparing_;
};

}  // namespace prof::viewer

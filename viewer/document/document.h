#pragma once
// The opened database and what of it is chosen: which time, which threads, which metrics. Every page shows
// the same choice, and learns by signals that it changed. Lives in the window's thread; nothing of it blocks
// for longer than a repaint.

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/call_tree.h"
#include "analysis/views/run_summary.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

class Traces;
struct OtherRun;
struct PreparedTree;

// A database as it is opened, with all threads chosen.
struct OpenedDatabase {
  std::filesystem::path directory;
  std::shared_ptr<const Database> database;
  RunSummary run;
  std::shared_ptr<const CallTree> tree;
};

// Reads it, which takes seconds for millions of contexts. For any thread. Throws DatabaseError.
OpenedDatabase open_database(const std::filesystem::path& directory);

// How the opened run and the one that it is compared with are shown.
struct Comparing {
  bool same_total = false;       // the other run's costs are scaled to the opened one's totals
  bool is_other_before = false;  // else the opened run is the one before

  bool operator==(const Comparing&) const = default;
};

class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(OpenedDatabase opened);
  // Reads the database first. Throws DatabaseError.
  explicit Document(const std::filesystem::path& directory) : Document(open_database(directory)) {}
  ~Document() override;

  const std::filesystem::path& directory() const { return directory_; }
  // As it was opened: who was measured, records of the run and traces. Values, metrics and names that pages
  // show are those of tree().database, which may be another one.
  const Database& database() const { return *database_; }
  const RunSummary& run() const { return run_; }
  // Mapped when they are first asked for. Throws DatabaseError.
  Traces& traces();

  // What pages show: what the chosen threads spent in each call path, of all metrics that tree().database
  // has. That has the contexts, files, modules and profiles of database() under the same indices, but may
  // have others behind them, and other functions, metrics and values.
  const CallTree& tree() const { return *tree_; }
  // The same, for what computes in the background: stays as it is when another one takes its place, and must
  // be gone before the document's end, which deletes the document's children first.
  std::shared_ptr<const CallTree> shared_tree() const { return tree_; }
  // The chosen threads' as it was measured, of database(), whatever tree() shows: what findings, records of
  // the run and traces are about.
  const CallTree& measured_tree() const { return *measured_tree_; }
  std::shared_ptr<const CallTree> shared_measured_tree() const { return measured_tree_; }
  // The position in tree().selection.metrics that pages show first.
  size_t metric() const { return metric_; }
  // Indices into the profiles of database(), rising.
  const std::vector<uint32_t>& threads() const { return threads_; }
  bool has_all_threads() const { return threads_.size() == database().profiles.size(); }

  // The time that tree() is of, by the traces; nothing: all of the run, as it was measured.
  const std::optional<TimeRange>& chosen_time() const { return chosen_time_; }
  // "1.500 s to 2.250 s (750 ms)", from where traces begin; empty for all of the run.
  QString chosen_time_in_words() const;
  // True while the traces are being indexed: tree() is of all of the run until then.
  bool is_time_awaited() const { return chosen_time_ && !timed_; }

  // What of the traces is in front: nothing for all the time, and for the innermost frames.
  const std::optional<TimeRange>& shown_time() const { return shown_time_; }
  std::optional<uint32_t> depth() const { return depth_; }

  // Each emits the signal below, where it changes anything.
  void choose_metric(size_t position);
  void choose_threads(std::vector<uint32_t> profiles);
  void choose_all_threads();
  void merge_recursion(bool is_merged);
  // All of tree() is of that time then, and has the metrics of timed_database() alone. Waits for the index
  // of the traces where there is none yet. Nothing happens where there are no traces. Throws DatabaseError.
  void choose_time(std::optional<TimeRange> range);
  void show_time(std::optional<TimeRange> range);
  void choose_depth(std::optional<uint32_t> depth);
  bool is_recursion_merged() const { return merges_; }

  // The tree becomes that of both runs (CallTree::compared), of all the time: where one is chosen that choice
  // ends, and choosing one ends the comparison. A tree that was made ahead is taken where it is still the one
  // that is wanted.
  void compare_with(std::shared_ptr<const OtherRun> other, const Comparing& how = {},
                    const PreparedTree* prepared = nullptr);
  // The tree becomes that of the opened run again.
  void end_comparison() { compare_with(nullptr); }
  void choose_comparing(const Comparing& how);
  // nullptr: the opened run is not compared.
  const OtherRun* other_run() const { return other_.get(); }
  const Comparing& comparing() const { return comparing_; }
  // Where copies of this file of tree().database are: in which of the compared databases.
  const std::filesystem::path& directory_of_file(uint32_t file) const;

  // Where the user goes, from any page.
  void ask_for_page(const QString& id) { emit page_asked(id); }
  void ask_for_source(uint32_t file, uint32_t line) { emit source_asked(file, line); }
  void ask_for_function(uint32_t frame) { emit function_asked(frame); }
  // The one that costs most, where several have the name. Nothing happens where tree() has none.
  void ask_for_function(const std::string& name);
  // Whether tree() has costs of one with this name.
  bool has_function(const std::string& name) const;
  // The timeline, and there that time.
  void ask_for_moment(const Moment& moment) {
    emit page_asked("timeline");
    emit moment_asked(moment);
  }
  // The page that has the evidence of a finding, and there the place of it, by its id.
  void ask_for_finding(const QString& page, const QString& finding) {
    emit page_asked(page);
    emit finding_asked(page, finding);
  }

 signals:
  // tree() will be another one: the last time to say what its nodes are.
  void tree_will_change();
  // tree() is another one: nodes and frames of the one before mean nothing any more.
  void tree_changed();
  void metric_changed();
  // Before tree() is of it.
  void chosen_time_changed();
  // It could not be, and all of the run is chosen again; why is a line.
  void time_not_chosen(const QString& why);
  void shown_time_changed();
  void depth_changed();
  // other_run() or comparing() is another one; tree_changed() came before.
  void comparison_changed();
  // `file` is an index into the files of tree().database.
  void source_asked(uint32_t file, uint32_t line);
  // `frame` is an index into CallTree::frames: pages that show functions choose it.
  void function_asked(uint32_t frame);
  void page_asked(const QString& id);
  void moment_asked(const Moment& moment);
  // `finding` is a Finding::id.
  void finding_asked(const QString& page, const QString& finding);

 private:
  std::shared_ptr<const CallTree> tree_of(std::shared_ptr<const Database> database) const;
  // tree_ anew, by what is chosen.
  void take_tree(const PreparedTree* prepared);
  std::shared_ptr<const CallTree> tree_of_both(const PreparedTree* prepared) const;
  // Of what can no longer be read all stays as it was.
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
  std::shared_ptr<const Database> timed_;  // of the chosen time, once that is known
  std::string measured_metric_;            // that was chosen last of those of measured_tree_
  std::vector<uint32_t> threads_;
  size_t metric_ = 0;
  std::optional<TimeRange> shown_time_;
  std::optional<uint32_t> depth_;
  bool merges_ = false;
  std::shared_ptr<const OtherRun> other_;
  Comparing comparing_;
};

}  // namespace prof::viewer

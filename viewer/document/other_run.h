#pragma once
// The database that the opened one is compared with. It is read and matched with the opened one in the
// background, because both may have a million contexts.

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "analysis/views/compare/comparison.h"

namespace prof::viewer {

struct OtherRun {
  std::filesystem::path directory;
  std::unique_ptr<const Database> database;
  std::unique_ptr<const MatchedDatabases> both;  // the opened one is the first
};

// `opened` must outlive the result. Returns nullptr if it was cancelled. Throws DatabaseError.
std::shared_ptr<const OtherRun> read_other_run(const Database& opened, const std::filesystem::path& directory,
                                               const MatchProgress& progress = {});

// Returns the tree of both runs, with the threads of `measured`, the opened run's tree. The tree keeps the
// other run alive.
std::shared_ptr<const CallTree> compare_runs(std::shared_ptr<const OtherRun> other, const CallTree& measured,
                                             const ComparisonOptions& options);

// A tree that was computed in advance, and the options for which it is valid.
struct PreparedTree {
  std::shared_ptr<const CallTree> tree, measured;
  ComparisonOptions options;
};

// Reads one in a thread of its own. Lives in the window's thread. Its destructor stops the reading thread and
// waits for it.
class OtherRunReader : public QObject {
  Q_OBJECT

 public:
  explicit OtherRunReader(QObject* parent = nullptr) : QObject(parent) {}
  ~OtherRunReader() override;

  // Must be called once. `opened` must outlive this object. Also computes a tree of both for `measured`.
  void start(const Database& opened, std::shared_ptr<const CallTree> measured, ComparisonOptions options,
             const std::filesystem::path& directory);
  void cancel() { is_cancelled_ = true; }

 signals:
  void progressed(double share);  // 0..1
  // result() is now available, unless reading failed. Then `why` is one line, or empty if it was cancelled.
  void finished(const QString& why);

 public:
  std::shared_ptr<const OtherRun> result() const { return result_; }
  const PreparedTree& prepared() const { return prepared_; }

 private:
  QString read(const Database& opened, const std::filesystem::path& directory);

  std::atomic<bool> is_cancelled_ = false;
  std::shared_ptr<const OtherRun> result_;  // owned by the thread until it ends
  PreparedTree prepared_;
  std::jthread thread_;
};

}  // namespace prof::viewer

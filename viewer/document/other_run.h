#pragma once
// The database that the opened one is compared with. It is read and matched with the opened one in the
// background, because both may have a million contexts.

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "analysis/views/comparison.h"

namespace prof::viewer {

struct OtherRun {
  std::filesystem::path directory;
  std::unique_ptr<const Database> database;
  std::unique_ptr<const MatchedDatabases> both;  // the opened one is the first
};

// `opened` outlives the result. Throws DatabaseError; nullptr where it was given up.
std::shared_ptr<const OtherRun> read_other_run(const Database& opened, const std::filesystem::path& directory,
                                               const MatchProgress& progress = {});

// The tree of both, with the threads that `measured`, the opened run's tree, has. Keeps the other run.
std::shared_ptr<const CallTree> compare_runs(std::shared_ptr<const OtherRun> other, const CallTree& measured,
                                             const ComparisonOptions& options);

// A tree that was made ahead, and what it is valid for.
struct PreparedTree {
  std::shared_ptr<const CallTree> tree, measured;
  ComparisonOptions options;
};

// Reads one in a thread of its own. Lives in the window's thread; ends with the thread, which it stops.
class OtherRunReader : public QObject {
  Q_OBJECT

 public:
  explicit OtherRunReader(QObject* parent = nullptr) : QObject(parent) {}
  ~OtherRunReader() override;

  // Once. `opened` outlives this; a tree of both is made for `measured`.
  void start(const Database& opened, std::shared_ptr<const CallTree> measured, ComparisonOptions options,
             const std::filesystem::path& directory);
  void cancel() { is_cancelled_ = true; }

 signals:
  void progressed(double share);  // 0..1
  // What result() has; nothing is there where it failed: then `why` is a line, for cancelled ones empty.
  void finished(const QString& why);

 public:
  std::shared_ptr<const OtherRun> result() const { return result_; }
  const PreparedTree& prepared() const { return prepared_; }

 private:
  QString read(const Database& opened, const std::filesystem::path& directory);

  std::atomic<bool> is_cancelled_ = false;
  std::shared_ptr<const OtherRun> result_;  // the thread's until it ends
  PreparedTree prepared_;
  std::jthread thread_;
};

}  // namespace prof::viewer

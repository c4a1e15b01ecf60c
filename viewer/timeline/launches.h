#pragma once
// Which thread submitted which task of a device, to be found by instant: the arrows of a timeline.

#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "analysis/database/model.h"
#include "viewer/trace/time_range.h"

namespace prof::viewer {

class LaunchTable {
 public:
  // Of a database with millions more, the first ones: 48 bytes each.
  static constexpr size_t kMost = 4'000'000;

  LaunchTable() = default;
  // Reads them all. Throws DatabaseError. Empty where it was cancelled.
  LaunchTable(const LaunchSource& source, const std::atomic<bool>& is_cancelled, size_t most = kMost);

  bool empty() const { return launches_.empty(); }
  bool is_cut() const { return is_cut_; }

  // At most so many: tasks that ran on the queue in that time, by their begin; those that the thread
  // submitted in it, in this order; those whose way from the one to the other lies in it at least in part, of
  // these profiles alone: where there are more, nothing. Queue and thread are indices into
  // Database::profiles.
  using Found = std::vector<const DeviceLaunch*>;
  Found run_by(uint32_t queue, TimeRange range, size_t most) const;
  Found submitted_by(uint32_t thread, TimeRange range, size_t most) const;
  Found all_in(TimeRange range, const std::vector<bool>& profiles, size_t most) const;

 private:
  struct Queue {
    uint32_t profile;
    size_t begin, end;  // in launches_
  };
  std::vector<DeviceLaunch> launches_;     // by queue and begin
  std::vector<uint64_t> last_end_;         // of each, and of those before it in its queue
  std::vector<uint64_t> first_submitted_;  // of each, and of those behind it in its queue
  std::vector<Queue> queues_;
  std::vector<uint32_t> by_thread_;  // launches of known threads, by thread and submission
  bool is_cut_ = false;
};

// Reads the table in the background. Lives in the window's thread.
class LaunchReader : public QObject {
  Q_OBJECT

 public:
  // The database outlives it.
  LaunchReader(const Database& database, QObject* parent);
  ~LaunchReader() override;

  bool is_reading() const { return reader_.joinable(); }
  const LaunchTable& table() const { return table_; }

 signals:
  // table() has what there is; `why` says where it could not be read, or not all of it, and is empty
  // otherwise.
  void ready(const QString& why);

 private:
  LaunchTable table_, read_;  // the second one is the reader's until it ends
  QString why_;
  std::atomic<bool> is_cancelled_{false};
  std::thread reader_;
};

}  // namespace prof::viewer

#pragma once
// Finds by time which thread submitted which task of a device, for the arrows of a timeline.

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
  // The maximum number of launches. Of a larger database the first ones are shown. Each takes 48 bytes.
  static constexpr size_t kMaxTasks = 4'000'000;

  LaunchTable() = default;
  // Reads all launches. Empty if cancelled. Throws DatabaseError.
  LaunchTable(const LaunchSource& source, const std::atomic<bool>& is_cancelled, size_t most = kMaxTasks);

  bool empty() const { return launches_.empty(); }
  bool is_cut() const { return is_cut_; }

  // Return at most `most` launches. run_by(): tasks that ran on the queue in that time, by start.
  // submitted_by(): those that the thread submitted in it, in that order. all_in(): those of these profiles
  // whose way from submission to start overlaps it, or none if there are more. Queue and thread are indices
  // into Database::profiles.
  using Found = std::vector<const DeviceLaunch*>;
  Found run_by(uint32_t queue, TimeRange range, size_t most) const;
  Found submitted_by(uint32_t thread, TimeRange range, size_t most) const;
  Found all_in(TimeRange range, const std::vector<bool>& profiles, size_t most) const;

 private:
  struct Queue {
    uint32_t profile;
    size_t begin, end;  // in launches_
  };
  std::vector<DeviceLaunch> launches_;     // by queue and start
  std::vector<uint64_t> last_end_;         // the latest end up to each one in its queue
  std::vector<uint64_t> first_submitted_;  // the earliest submission from each one on in its queue
  std::vector<Queue> queues_;
  std::vector<uint32_t> by_thread_;  // launches of known threads, by thread and submission
  bool is_cut_ = false;
};

// Reads the table in the background. Lives in the window's thread.
class LaunchReader : public QObject {
  Q_OBJECT

 public:
  // The database must outlive this object.
  LaunchReader(const Database& database, QObject* parent);
  ~LaunchReader() override;

  bool is_reading() const { return reader_.joinable(); }
  const LaunchTable& table() const { return table_; }

 signals:
  // Emitted when table() is available. `why` is empty, or explains why it could not be read, or not
  // completely.
  void ready(const QString& why);

 private:
  LaunchTable table_, read_;  // the second belongs to the reader until it ends
  QString why_;
  std::atomic<bool> is_cancelled_{false};
  std::thread reader_;
};

}  // namespace prof::viewer

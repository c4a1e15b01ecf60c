#pragma once
// Finds the moments behind the sums that pages show: when devices ran tasks and threads waited. For each it
// keeps the longest time, for the timeline. Searches the run's tasks and waits in the background.

#include <QObject>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/words/code_frame.h"
#include "viewer/document/document.h"

namespace prof::viewer {

class DeviceMoments : public QObject {
  Q_OBJECT

 public:
  // The document must outlive this object. A run without traces has no moments.
  explicit DeviceMoments(Document& document, QObject* parent = nullptr);
  ~DeviceMoments() override;

  bool is_complete() const { return !search_.joinable(); }
  // Returns the longest execution of a task with that name.
  std::optional<Moment> run_of(const std::string& task) const;
  // Returns the whole time in which the queue was active.
  std::optional<Moment> all_of(uint32_t queue) const;
  // idleness_in() returns the first of the longest times without a task on any queue in whose middle a thread
  // was in that code, wait_in() the first of the longest waits there. Call paths begin with the innermost
  // frame.
  std::optional<Moment> idleness_in(const std::vector<CodeFrame>& code) const;
  std::optional<Moment> wait_in(const std::vector<CodeFrame>& code) const;

 signals:
  void ready();

 private:
  struct Known {
    std::map<std::string, Moment> runs;
    std::map<uint32_t, Moment> queues;
    std::vector<TimeRange> idle;  // longest first
    std::vector<Moment> waits;    // longest first
  };
  static Known search(const Database& database, const std::atomic<bool>& is_cancelled);
  bool is_in(uint32_t context, const std::vector<CodeFrame>& code) const;

  Document& document_;
  Known known_, found_;  // the second belongs to the search until it ends
  std::atomic<bool> is_cancelled_{false};
  std::thread search_;
};

}  // namespace prof::viewer

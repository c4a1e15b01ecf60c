#pragma once
// When devices did, and threads waited, what pages tell in sums: of each the longest time, for the timeline.
// Found in the background, in the tasks and waits of the run.

#include <QObject>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/views/findings.h"
#include "viewer/document/document.h"

namespace prof::viewer {

class DeviceMoments : public QObject {
  Q_OBJECT

 public:
  // The document outlives it. A run without traces has none.
  explicit DeviceMoments(Document& document, QObject* parent = nullptr);
  ~DeviceMoments() override;

  bool is_complete() const { return !search_.joinable(); }
  // The longest run of a task of that name.
  std::optional<Moment> run_of(const std::string& task) const;
  // All that the queue did.
  std::optional<Moment> all_of(uint32_t queue) const;
  // Of the longest times in which no queue ran a task the first one in whose middle a thread was in that
  // code; of the longest waits the first one that was there. Call paths with the innermost frame first.
  std::optional<Moment> idleness_in(const std::vector<FindingFrame>& code) const;
  std::optional<Moment> wait_in(const std::vector<FindingFrame>& code) const;

 signals:
  void ready();

 private:
  struct Known {
    std::map<std::string, Moment> runs;
    std::map<uint32_t, Moment> queues;
    std::vector<TimeRange> idle;  // the longest first
    std::vector<Moment> waits;    // likewise
  };
  static Known search(const Database& database, const std::atomic<bool>& is_cancelled);
  bool is_in(uint32_t context, const std::vector<FindingFrame>& code) const;

  Document& document_;
  Known known_, found_;  // the second one is the search's until it ends
  std::atomic<bool> is_cancelled_{false};
  std::thread search_;
};

}  // namespace prof::viewer

#pragma once
// Computes all findings for the selection of the document, as `prof report` does. It runs in a thread of its
// own, because stalls are found by reading all traces. The pages of a document share one, and live in its
// thread.

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/stall_report.h"
#include "viewer/document/document.h"

namespace prof::viewer {

class FindingSearch : public QObject {
  Q_OBJECT

 public:
  // Returns the document's search, which starts at the first call. The document owns it.
  static FindingSearch& of(Document& document);
  ~FindingSearch() override;

  // Returns the findings in the order of put_in_order(); without stalls until is_complete().
  const std::vector<Finding>& findings() const { return known_.findings; }
  // Returns nothing until is_complete(), and if the traces do not show stalls.
  const std::optional<StallReport>& stalls() const { return known_.stalls; }
  // Returns the reason and the remedy if the traces do not show stalls; empty if they do, or if that is not
  // known yet.
  const std::string& reason_no_stalls() const { return known_.reason_no_stalls; }
  bool is_complete() const { return known_.is_complete; }

 signals:
  void changed();

 private:
  struct Known {
    std::vector<Finding> findings;
    std::optional<StallReport> stalls;
    std::string reason_no_stalls;
    bool is_complete = false;
  };

  explicit FindingSearch(Document& document);
  void start();
  void search(std::shared_ptr<const CallTree> tree, uint64_t turn, const std::stop_token& stop);
  void tell(Known known, uint64_t turn);

  Document& document_;
  std::shared_ptr<const CallTree> tree_;  // the tree that is searched
  Known known_;
  uint64_t turn_ = 0;  // number of the search whose results count
  std::jthread thread_;
};

}  // namespace prof::viewer

#pragma once
// All that is found in what is chosen of the document, as `prof report` finds it: computed in a thread of its
// own, because stalls are read from all traces. Pages share one of each document, and live in its thread.

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/views/findings.h"
#include "analysis/views/stall_findings.h"
#include "viewer/document/document.h"

namespace prof::viewer {

class FindingSearch : public QObject {
  Q_OBJECT

 public:
  // That of the document, which starts when it is asked for the first time. The document owns it.
  static FindingSearch& of(Document& document);
  ~FindingSearch() override;

  // In the order of prof::find(); without stalls until is_complete().
  const std::vector<Finding>& findings() const { return known_.findings; }
  // Nothing until is_complete(), and where the traces cannot tell.
  const std::optional<StallReport>& stalls() const { return known_.stalls; }
  // Why they cannot, with the remedy; empty where they can or it is not known yet.
  const std::string& why_no_stalls() const { return known_.why_no_stalls; }
  bool is_complete() const { return known_.is_complete; }

 signals:
  void changed();

 private:
  struct Known {
    std::vector<Finding> findings;
    std::optional<StallReport> stalls;
    std::string why_no_stalls;
    bool is_complete = false;
  };

  explicit FindingSearch(Document& document);
  void start();
  void search(std::shared_ptr<const CallTree> tree, uint64_t turn, const std::stop_token& stop);
  void tell(Known known, uint64_t turn);

  Document& document_;
  std::shared_ptr<const CallTree> tree_;  // that is searched
  Known known_;
  uint64_t turn_ = 0;  // of the search whose results count
  std::jthread thread_;
};

}  // namespace prof::viewer

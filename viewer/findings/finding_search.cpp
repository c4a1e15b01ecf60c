#include "viewer/findings/finding_search.h"

#include <exception>
#include <utility>

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/stall_report.h"

namespace prof::viewer {

FindingSearch& FindingSearch::of(Document& document) {
  if (auto* const known = document.findChild<FindingSearch*>(QString(), Qt::FindDirectChildrenOnly))
    return *known;
  return *new FindingSearch(document);
}

FindingSearch::FindingSearch(Document& document) : QObject(&document), document_(document) {
  connect(&document, &Document::tree_changed, this, &FindingSearch::start);
  start();
}

FindingSearch::~FindingSearch() = default;  // stops the thread and waits for it

void FindingSearch::start() {
  // The measured data is the same if pages only show another selection.
  if (tree_ == document_.shared_measured_tree()) return;
  tree_ = document_.shared_measured_tree();
  known_ = {};
  const uint64_t turn = ++turn_;
  thread_ =
      std::jthread([this, turn, tree = tree_](const std::stop_token& stop) { search(tree, turn, stop); });
}

void FindingSearch::search(std::shared_ptr<const CallTree> tree, uint64_t turn, const std::stop_token& stop) {
  const RunSummary& run = document_.run();
  Known known;
  try {
    known.findings = all_findings(*tree, run, nullptr);
    known.reason_no_stalls = prof::reason_no_stalls(*tree).value_or("");
    known.is_complete = !known.reason_no_stalls.empty();
    tell(known, turn);
    if (known.is_complete) return;
    StallOptions options;
    options.is_cancelled = [&stop] { return stop.stop_requested(); };
    known.stalls = stall_report(*tree, run, options);
    known.stalls->options.is_cancelled = nullptr;
    known.findings = all_findings(*tree, run, &*known.stalls);
  } catch (const StallsCancelled&) {
    return;
  } catch (const std::exception& error) {
    known.reason_no_stalls = error.what();
  }
  known.is_complete = true;
  tell(std::move(known), turn);
}

void FindingSearch::tell(Known known, uint64_t turn) {
  QMetaObject::invokeMethod(
      this,
      [this, turn, known = std::move(known)] {
        if (turn != turn_) return;
        known_ = known;
        emit changed();
      },
      Qt::QueuedConnection);
}

}  // namespace prof::viewer

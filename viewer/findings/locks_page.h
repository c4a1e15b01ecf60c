#pragma once
// Contended locks: which threads waited, which threads held the lock meanwhile, and what else threads waited
// for.

#include <optional>
#include <utility>
#include <vector>

#include "viewer/findings/evidence_page.h"

namespace prof::viewer {

class LocksPage : public EvidencePage {
  Q_OBJECT

 public:
  explicit LocksPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "locks"; }
  QString title() const override { return "Locks"; }
  QString reason_empty() const override;

 protected:
  void fill() override;
  QString limit_of_threads() const override {
    return "Of all threads: waiting is not available for a selection of threads.";
  }
  QModelIndex row_of_finding(const QString& id) const override;

 private:
  void add_lock(const LockRecord& lock);
  void add_sides(const char* what, const std::vector<LockSide>& sides, QStandardItem* parent);
  void add_open_waits();
  void add_blocked();
  void add_work();

  // Rows by Finding::id of what each row shows, even if there is no such finding.
  std::vector<std::pair<std::string, QStandardItem*>> rows_of_findings_;
};

}  // namespace prof::viewer

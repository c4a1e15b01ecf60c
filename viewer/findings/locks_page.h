#pragma once
// Who waited for which lock, who had it meanwhile, and what else threads waited for.

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
  QString why_empty() const override;

 protected:
  void fill() override;
  QModelIndex row_of_finding(const QString& sentence) const override;

 private:
  void add_lock(const LockRecord& lock);
  void add_sides(const char* what, const std::vector<LockSide>& sides, QStandardItem* parent);
  void add_open_waits();
  void add_blocked();
  void add_work();

  std::vector<std::pair<QString, QStandardItem*>> locks_;  // as sentences name them
};

}  // namespace prof::viewer

#pragma once
// Wasted stores and loads: both accesses with their call paths and source lines.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/views/run/memory_waste.h"
#include "viewer/findings/evidence_page.h"

namespace prof::viewer {

class MemoryWastePage : public EvidencePage {
  Q_OBJECT

 public:
  explicit MemoryWastePage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "memory-waste"; }
  QString title() const override { return "Memory waste"; }
  QString reason_empty() const override;

 protected:
  void fill() override;
  QString limit_of_threads() const override {
    return "Of all threads: wasted accesses are not available for a selection of threads.";
  }
  QModelIndex row_of_finding(const QString& id) const override;

 private:
  void add(const WasteByLine& waste);
  QString details_of(const Finding& finding);
  QString source_of(const std::vector<CodeFrame>& frames);

  // Rows by Finding::id of what each row shows, even if there is no such finding.
  std::vector<std::pair<std::string, QStandardItem*>> rows_of_findings_;
  std::map<uint32_t, QStringList> lines_;  // by file; empty if it cannot be read
};

}  // namespace prof::viewer

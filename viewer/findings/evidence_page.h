#pragma once
// Common base of the pages with evidence: sentences on top, a table, and details of the selected row below
// it, with links to source lines. Filled when it becomes visible.

#include <QLabel>
#include <QSplitter>
#include <QStackedLayout>
#include <QTextBrowser>

#include "viewer/document/page.h"
#include "viewer/findings/evidence_table.h"

namespace prof::viewer {

class EvidencePage : public Page {
  Q_OBJECT

 public:
  QWidget* main_widget() override { return table_; }
  QAbstractItemView* table() override { return table_; }
  std::vector<PageKey> keys() const override;

 protected:
  EvidencePage(Document& document, const QStringList& columns, QWidget* parent);

  // Fills the emptied table and the sentences above it. Called only if reason_empty() returns no reason.
  virtual void fill() = 0;
  // Returns a sentence on the effect of a selected time here; empty if fill() shows that time only.
  virtual QString limit_of_time() const { return "Of the whole run: this page is not available by time."; }
  // The same for selected threads.
  virtual QString limit_of_threads() const { return {}; }
  // Returns the row of a finding's evidence, by Finding::id; invalid if the page has no row for it.
  virtual QModelIndex row_of_finding(const QString& id) const;
  // Adds a widget next to the details, as wide as its contents need if there is room for both.
  void add_beside_details(QWidget* widget, QWidget* contents);

  // Shows sentences; `text` is HTML.
  void show_sentences(const QString& text);
  EvidenceTable& rows() { return *table_; }
  const EvidenceTable& rows() const { return *table_; }
  // Called when the details of the selected row have changed.
  void renew_details() { show_details(table_->currentIndex()); }
  // Called when the data has changed. fill() is called once the page is visible.
  void renew();

  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QString limits() const;
  void divide();
  void show_details(const QModelIndex& row);
  void show_finding(const QString& page, const QString& finding);
  void follow_link(const QUrl& link);

  QLabel* empty_;
  QLabel* limit_;
  QLabel* sentences_;
  EvidenceTable* table_;
  QTextBrowser* details_;
  QSplitter* beside_;
  QSplitter* halves_;
  QStackedLayout* layers_;
  QWidget* beside_details_ = nullptr;
  bool is_filled_ = false;
  bool is_divided_ = false;  // the user moved the splitter between table and details
};

}  // namespace prof::viewer

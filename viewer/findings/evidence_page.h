#pragma once
// What pages of evidence have in common: sentences above, a table, and below it what is known of the row that
// is chosen, with links to source lines. Filled when it is seen.

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

  // Fills the emptied table, and the sentences above it. Only where why_empty() has no reason.
  virtual void fill() = 0;
  // What a chosen time means here; empty: what fill() shows is of that time. A sentence.
  virtual QString limit_of_time() const {
    return "Of all of the run: what is shown here is not known by time.";
  }
  // The same of chosen threads.
  virtual QString limit_of_threads() const { return {}; }
  // The row of a finding's evidence, by Finding::id; none: the page has no row for it.
  virtual QModelIndex row_of_finding(const QString& id) const;
  // Beside the details, as wide as its contents need where there is room for both.
  void add_beside_details(QWidget* widget, QWidget* contents);

  // HTML.
  void show_sentences(const QString& text);
  EvidenceTable& rows() { return *table_; }
  const EvidenceTable& rows() const { return *table_; }
  // The details of the chosen row have changed.
  void renew_details() { show_details(table_->currentIndex()); }
  // What is known has changed: fill() is called, when the page is seen.
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
  bool is_divided_ = false;  // between table and details, by the user
};

}  // namespace prof::viewer

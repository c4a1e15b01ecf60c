#pragma once
// A table of evidence: rows and rows within rows, sorted by any column, each with a call path. Small: pages
// fill it at once.

#include <QSet>
#include <QStandardItemModel>
#include <QString>
#include <QStringList>
#include <QTreeView>
#include <QVariant>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/views/findings.h"
#include "viewer/document/document.h"

namespace prof::viewer {

// A cell. `exact` is what rows are sorted by, and what is exported; without one, the text.
struct Cell {
  Cell(QString words) : text(std::move(words)) {}
  Cell(const std::string& words) : text(QString::fromStdString(words)) {}
  Cell(const char* words) : text(words) {}
  Cell(QString words, double value, QString tooltip)
      : text(std::move(words)), exact(value), tip(std::move(tooltip)) {}

  QString text;
  QVariant exact;
  QString tip;
};

// "1.24 s", exact to the nanosecond.
Cell seconds_cell(double seconds);
// "12 %" of a share 0..1.
Cell share_cell(double share);
// "1,234"
Cell count_cell(double count);

// What a row stands for.
struct Evidence {
  std::vector<FindingFrame> frames;  // the innermost first
  QString details = {};              // HTML; empty: those of the row that it is in
  // Where the timeline shows it, asked when somebody looks: empty, or nothing, where it does not.
  std::function<std::optional<Moment>()> moment = {};
};

// The same calls of the same functions at the same lines.
bool is_same_code(const std::vector<FindingFrame>& one, const std::vector<FindingFrame>& other);

class EvidenceTable : public QTreeView {
  Q_OBJECT

 public:
  EvidenceTable(Document& document, const QStringList& columns, QWidget* parent = nullptr);

  // Behind the rows of `parent`; nullptr: at the top. The item is that of its first column.
  QStandardItem* add(const std::vector<Cell>& cells, Evidence evidence, QStandardItem* parent = nullptr);
  // A heading over rows of one kind, shown open.
  QStandardItem* add_heading(const QString& text);
  void clear();
  // Sorts the rows as the header says, chooses the first one, and gives columns the width that they need.
  void finish();

  // What the user has made of the rows, to be found again when they are others: by their texts.
  struct Look {
    QString current, top;  // rows
    QSet<QString> open, closed;
  };
  Look look() const;
  void take_look(const Look& look);

  // Of the header and whole rows, in pixels: of all that are open, at most so much.
  int height_of_rows(int most) const;

  const Evidence& evidence(const QModelIndex& row) const;
  // The first row below `parent` whose call path that is; none: there is no such row.
  QModelIndex row_in(const std::vector<FindingFrame>& code, const QModelIndex& parent = {}) const;
  // HTML of the row, or of the nearest one that it is in and that has some.
  QString details(QModelIndex row) const;
  // True where the row leads to a line of source.
  bool show_source(const QModelIndex& row);
  // The same of the timeline.
  bool show_moment(const QModelIndex& row);
  std::optional<Moment> moment(const QModelIndex& row) const;

 signals:
  void row_chosen(const QModelIndex& row);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit_columns();
  int width_needed(int column) const;
  template <typename Visit>
  void for_each_row(const QModelIndex& parent, const Visit& visit) const;

  Document& document_;
  QStandardItemModel model_;
  std::vector<Evidence> evidence_;
  bool awaits_layout_ = false;  // filled, and the page may not have its width yet
};

}  // namespace prof::viewer

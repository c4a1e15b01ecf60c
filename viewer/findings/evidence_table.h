#pragma once
// A table of evidence: nested rows, sorted by any column, each with a call path. It is small, so pages fill
// it at once.

#include <QSet>
#include <QStandardItemModel>
#include <QString>
#include <QStringList>
#include <QTreeView>
#include <QVariant>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/words/code_frame.h"
#include "viewer/document/document.h"

namespace prof::viewer {

// A cell. Rows are sorted by `exact`, which is also exported; without it, by the text.
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

// Shows "1.24 s"; the exact value has nanoseconds.
Cell seconds_cell(double seconds);
// Shows a share 0..1 as "12 %".
Cell share_cell(double share);
// Shows "1,234".
Cell count_cell(double count);

// The data of a row.
struct Evidence {
  std::vector<CodeFrame> frames;  // innermost first
  QString details = {};              // HTML; empty: those of the parent row
  // Returns the moment at which the timeline shows it, computed when it is needed. Null, or returns nothing,
  // if the timeline does not show it.
  std::function<std::optional<Moment>()> moment = {};
};

// True if both are the same calls of the same functions at the same lines.
bool is_same_code(const std::vector<CodeFrame>& one, const std::vector<CodeFrame>& other);

class EvidenceTable : public QTreeView {
  Q_OBJECT

 public:
  EvidenceTable(Document& document, const QStringList& columns, QWidget* parent = nullptr);

  // Adds a row after those of `parent`; nullptr: at the top level. Returns the item of its first column.
  QStandardItem* add(const std::vector<Cell>& cells, Evidence evidence, QStandardItem* parent = nullptr);
  // Adds a heading over rows of one kind, expanded.
  QStandardItem* add_heading(const QString& text);
  void clear();
  // Sorts the rows as the header says, selects the first one, and fits the column widths.
  void finish();

  // The user's changes to the rows: restored by the rows' texts after the rows were replaced.
  struct Look {
    QString current, top;  // rows
    QSet<QString> open, closed;
  };
  Look look() const;
  void take_look(const Look& look);

  // Returns the height of the header and all expanded rows, in whole rows and at most `most` pixels.
  int height_of_rows(int most) const;

  const Evidence& evidence(const QModelIndex& row) const;
  // Returns the first row below `parent` with that call path, or an invalid index.
  QModelIndex row_in(const std::vector<CodeFrame>& code, const QModelIndex& parent = {}) const;
  // Returns the HTML of the row, or of its nearest ancestor that has some.
  QString details(QModelIndex row) const;
  // Returns true if the row has a source line to show.
  bool show_source(const QModelIndex& row);
  // The same for the timeline.
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
  bool awaits_layout_ = false;  // filled, but the page may not have its width yet
};

}  // namespace prof::viewer

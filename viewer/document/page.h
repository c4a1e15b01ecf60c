#pragma once
// One of the window's views of the document: a widget that shows something of the chosen time and threads.

#include <QString>
#include <QWidget>
#include <vector>

#include "viewer/document/document.h"

class QAbstractItemView;

namespace prof::viewer {

// "Left, Right": "the bar before, the next one".
struct PageKey {
  QString keys, what;
};

class Page : public QWidget {
  Q_OBJECT

 public:
  // The document outlives the page.
  explicit Page(Document& document, QWidget* parent = nullptr) : QWidget(parent), document_(document) {}

  // As --view names it: "top-down"; never changes.
  virtual QString id() const = 0;
  // As the window's tab names it: "Top-down".
  virtual QString title() const = 0;
  // Why there is nothing to show, in a sentence; empty: there is.
  virtual QString why_empty() const { return {}; }
  // What of it could not be read, in a line that names file and defect; empty: nothing failed.
  virtual QString failure() const { return {}; }
  // False while something is computed in the background that the page will show: pictures wait for it.
  virtual bool is_complete() const { return true; }
  // What the mouse wheel, the keys and the tab order go to first.
  virtual QWidget* main_widget() { return this; }
  // The table that is exported as CSV and copied as text; nullptr: the page has none.
  virtual QAbstractItemView* table() { return nullptr; }
  // What is copied where no table has the keys and no text is selected: lines; empty: nothing is chosen.
  virtual QString chosen_text() const { return {}; }
  // What keys do beyond those of tables, for the window's help.
  virtual std::vector<PageKey> keys() const { return {}; }

 protected:
  Document& document() const { return document_; }

 private:
  Document& document_;
};

}  // namespace prof::viewer

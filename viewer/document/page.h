#pragma once
// A view of the document in the window: a widget that shows the selected time and threads.

#include <QString>
#include <QWidget>
#include <vector>

#include "viewer/document/document.h"

class QAbstractItemView;

namespace prof::viewer {

// Example: {"Left, Right", "the bar before, the next one"}.
struct PageKey {
  QString keys, what;
};

class Page : public QWidget {
  Q_OBJECT

 public:
  // The document must outlive the page.
  explicit Page(Document& document, QWidget* parent = nullptr) : QWidget(parent), document_(document) {}

  // Returns the name for --view, such as "top-down". It never changes.
  virtual QString id() const = 0;
  // Returns the title of the window's tab, such as "Top-down".
  virtual QString title() const = 0;
  // Returns the reason why there is nothing to show, as a sentence, or empty.
  virtual QString reason_empty() const { return {}; }
  // Returns a one-line description of the file and its defect if data could not be read, or empty.
  virtual QString failure() const { return {}; }
  // False while the page computes something in the background. Screenshots wait for it.
  virtual bool is_complete() const { return true; }
  // Returns the widget that gets the mouse wheel, the keys and the tab order first.
  virtual QWidget* main_widget() { return this; }
  // Returns the table that is exported as CSV and copied as text, or nullptr.
  virtual QAbstractItemView* table() { return nullptr; }
  // Returns the lines to copy if no table has the keyboard focus and no text is selected; empty if no line is
  // selected either.
  virtual QString chosen_text() const { return {}; }
  // Returns the keys of this page, beyond those of tables, for the window's help.
  virtual std::vector<PageKey> keys() const { return {}; }

 protected:
  Document& document() const { return document_; }

 private:
  Document& document_;
};

}  // namespace prof::viewer

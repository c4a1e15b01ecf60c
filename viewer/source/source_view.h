#pragma once
// The text of a file with the costs of its lines beside it.

#include <QPlainTextEdit>
#include <map>
#include <vector>

#include "analysis/views/line_costs.h"
#include "viewer/document/document.h"
#include "viewer/source/highlighter.h"

namespace prof::viewer {

class SourceView : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit SourceView(Document& document, QWidget* parent = nullptr);

  void show_text(const QString& text, Language language);
  // By rising line, of the document's metric.
  void show_costs(const std::vector<LineCost>& costs);
  void go_to(uint32_t line);
  uint32_t current_line() const;
  // To the next line by falling cost (of the line itself, then with calls), or the one before.
  void go_to_hot(bool next);
  QString tip_of(uint32_t line) const;

  // For the margin.
  int margin_width() const;
  void paint_margin(QPainter& painter, const QRect& dirty) const;
  uint32_t line_at(int y) const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  int cost_width() const;
  int header_height() const;
  void mark_current();
  void paint_line(QPainter& painter, int top, int height, uint32_t line) const;

  Document& document_;
  Highlighter* highlighter_;
  Language language_ = Language::None;
  QWidget* margin_;
  std::map<uint32_t, Cost> costs_;
  std::vector<uint32_t> hottest_;  // lines, by falling cost
  double most_ = 0;                // of a line itself
};

}  // namespace prof::viewer

#pragma once
// The text of a file with the costs of its lines beside it.

#include <QPlainTextEdit>
#include <QRegularExpression>
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
  // That costs most; 0: none does.
  uint32_t hottest_line() const { return hottest_.empty() ? 0 : hottest_.front(); }
  // To the next line by falling cost (of the line itself, then with calls), or the one before.
  void go_to_hot(bool next);
  QString tip_of(uint32_t line) const;
  // Of a line; nothing where it costs nothing.
  Cost cost_of(uint32_t line) const;
  QString text_of(uint32_t line) const;

  // What is searched for, in this text and those after it; without a pattern nothing is.
  void search(const QRegularExpression& expression);
  size_t found() const { return found_.size(); }
  // To the next place that was found, behind the cursor, or the one before; at the ends it goes on at the
  // other one. Its number, from 1; 0 where there is none.
  size_t go_to_found(bool next);

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
  QString in_words(double value) const;
  void fit_margin();
  int header_height() const;
  void mark();
  void find();
  void paint_line(QPainter& painter, int top, int height, uint32_t line) const;

  Document& document_;
  Highlighter* highlighter_;
  Language language_ = Language::None;
  QWidget* margin_;
  std::map<uint32_t, Cost> costs_;
  std::vector<uint32_t> hottest_;  // lines, by falling cost
  double most_ = 0;                // of a line itself
  int widest_ = 0;                 // pixels of a cost in words
  struct Match {
    int begin, end;  // characters of the text
  };
  QRegularExpression expression_;
  std::vector<Match> found_;  // by their place
};

}  // namespace prof::viewer

#pragma once
// The text of a file with the costs of its lines next to it.

#include <QPlainTextEdit>
#include <QRegularExpression>
#include <map>
#include <vector>

#include "analysis/views/tree/line_costs.h"
#include "viewer/document/document.h"
#include "viewer/source/highlighter.h"

namespace prof::viewer {

class SourceView : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit SourceView(Document& document, QWidget* parent = nullptr);

  void show_text(const QString& text, Language language);
  // `costs`: ascending by line, for the document's metric.
  void show_costs(const std::vector<LineCost>& costs);
  void go_to(uint32_t line);
  uint32_t current_line() const;
  // Returns the most expensive line, or 0 if no line has costs.
  uint32_t hottest_line() const { return hottest_.empty() ? 0 : hottest_.front(); }
  // Goes to the next or the previous line by descending cost (self cost first, then including calls).
  void go_to_hot(bool next);
  QString tip_of(uint32_t line) const;
  // Returns the cost of a line; zero if it has none.
  Cost cost_of(uint32_t line) const;
  QString text_of(uint32_t line) const;

  // Searches this text and those shown later. An empty pattern ends the search.
  void search(const QRegularExpression& expression);
  size_t found() const { return found_.size(); }
  // Goes to the next match after the cursor, or to the previous one, and wraps around at the ends. Returns
  // the number of the match, from 1, or 0 if there is none.
  size_t go_to_found(bool next);

  // Called by the margin.
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
  std::vector<uint32_t> hottest_;  // lines, by descending cost
  double most_ = 0;                // the highest self cost of a line
  int widest_ = 0;                 // width of the widest formatted cost, in pixels
  struct Match {
    int begin, end;  // characters of the text
  };
  QRegularExpression expression_;
  std::vector<Match> found_;  // in text order
};

}  // namespace prof::viewer

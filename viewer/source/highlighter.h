#pragma once
// Colours keywords, comments and strings, in the language that the file name implies.

#include <QPalette>
#include <QSet>
#include <QSyntaxHighlighter>

namespace prof::viewer {

enum class Language : uint8_t { None, C, Fortran, Rust, Java, Python };

// C counts as C++.
Language language_of(const QString& path);

class Highlighter : public QSyntaxHighlighter {
  Q_OBJECT

 public:
  explicit Highlighter(QTextDocument* document) : QSyntaxHighlighter(document) {}

  void use(Language language, const QPalette& palette);

 protected:
  void highlightBlock(const QString& line) override;

 private:
  // The state at the start of a line, which is the state at the end of the previous one.
  enum State : int { Code = 0, BlockComment = 1, LongString = 2, LongStringOfApostrophes = 3 };

  qsizetype comment(const QString& line, qsizetype from);
  qsizetype quoted(const QString& line, qsizetype from);
  qsizetype long_string(const QString& line, qsizetype from, qsizetype search, State state);
  qsizetype word(const QString& line, qsizetype from);
  void paint(qsizetype from, qsizetype to, const QTextCharFormat& format);

  Language language_ = Language::None;
  QSet<QString> keywords_;
  QTextCharFormat keyword_, comment_, string_;
};

}  // namespace prof::viewer

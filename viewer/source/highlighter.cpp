#include "viewer/source/highlighter.h"

#include <QFileInfo>
#include <QMap>

#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

const char* const kC =
    "alignas alignof asm auto bool break case catch char char8_t char16_t char32_t class co_await co_return "
    "co_yield concept const consteval constexpr constinit const_cast continue decltype default delete do "
    "double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept nullptr operator private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile "
    "wchar_t while __global__ __device__ __shared__ __kernel __local";
const char* const kFortran =
    "allocatable allocate associate block call case character class close common complex contains continue "
    "cycle data deallocate dimension do double else elseif elemental end enddo endif entry exit external "
    "forall format function go goto if implicit in include inout integer intent interface intrinsic kind "
    "logical module namelist none nullify only open optional out parameter pointer precision print private "
    "procedure program public pure read real recursive result return save select sequence stop subroutine "
    "target then to type use where while write";
const char* const kRust =
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match "
    "mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool "
    "char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64";
const char* const kJava =
    "abstract assert boolean break byte case catch char class const continue default do double else enum "
    "extends false final finally float for goto if implements import instanceof int interface long native "
    "new null package private protected public record return short static strictfp super switch "
    "synchronized this throw throws transient true try var void volatile while";
const char* const kPython =
    "and as assert async await break class continue def del elif else except False finally for from global "
    "if import in is lambda None nonlocal not or pass raise return True try while with yield";

const char* words_of(Language language) {
  switch (language) {
    case Language::C:
      return kC;
    case Language::Fortran:
      return kFortran;
    case Language::Rust:
      return kRust;
    case Language::Java:
      return kJava;
    case Language::Python:
      return kPython;
    case Language::None:
      break;
  }
  return "";
}

}  // namespace

Language language_of(const QString& path) {
  static const QMap<QString, Language> kByEnding = [] {
    QMap<QString, Language> by_ending;
    for (const char* const ending :
         {"c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "cu", "cuh", "cl", "inl"})
      by_ending[ending] = Language::C;
    for (const char* const ending : {"f", "for", "f77", "f90", "f95", "f03", "f08"})
      by_ending[ending] = Language::Fortran;
    by_ending["rs"] = Language::Rust;
    by_ending["java"] = Language::Java;
    by_ending["py"] = Language::Python;
    return by_ending;
  }();
  const QString ending = QFileInfo(path).suffix().toLower();
  // The standard library's headers have no suffix.
  if (ending.isEmpty() && path.contains("/c++/")) return Language::C;
  return kByEnding.value(ending, Language::None);
}

void Highlighter::use(Language language, const QPalette& palette) {
  language_ = language;
  const QStringList words = QString(words_of(language)).split(' ', Qt::SkipEmptyParts);
  keywords_ = QSet<QString>(words.begin(), words.end());
  const bool dark = is_dark(palette);
  keyword_.setForeground(dark ? QColor(0x8a, 0xb8, 0xff) : QColor(0x1a, 0x3f, 0xa8));
  comment_.setForeground(dark ? QColor(0x93, 0xa8, 0x8a) : QColor(0x4c, 0x6b, 0x40));
  string_.setForeground(dark ? QColor(0xe0, 0xac, 0x80) : QColor(0x96, 0x3c, 0x10));
  rehighlight();
}

void Highlighter::paint(qsizetype from, qsizetype to, const QTextCharFormat& format) {
  setFormat(static_cast<int>(from), static_cast<int>(to - from), format);
}

// Each of these returns where code continues, or `from` if there is no such token.

qsizetype Highlighter::comment(const QString& line, qsizetype from) {
  const bool has_slashes =
      language_ == Language::C || language_ == Language::Rust || language_ == Language::Java;
  const QStringView rest = QStringView(line).mid(from);
  const bool to_end = (has_slashes && rest.startsWith(u"//")) ||
                      (language_ == Language::Python && rest.startsWith(u'#')) ||
                      (language_ == Language::Fortran && rest.startsWith(u'!'));
  if (to_end) {
    paint(from, line.size(), comment_);
    return line.size();
  }
  const bool goes_on = from == 0 && previousBlockState() == BlockComment;
  if (!goes_on && !(has_slashes && rest.startsWith(u"/*"))) return from;
  qsizetype end = line.indexOf("*/", goes_on ? from : from + 2);
  if (end < 0) {
    setCurrentBlockState(BlockComment);
    end = line.size();
  } else {
    end += 2;
  }
  paint(from, end, comment_);
  return end;
}

qsizetype Highlighter::long_string(const QString& line, qsizetype from, qsizetype search, State state) {
  qsizetype end = line.indexOf(state == LongString ? "\"\"\"" : "'''", search);
  if (end < 0) {
    setCurrentBlockState(state);
    end = line.size();
  } else {
    end += 3;
  }
  paint(from, end, string_);
  return end;
}

qsizetype Highlighter::quoted(const QString& line, qsizetype from) {
  const QChar quote = line[from];
  if (quote != '"' && quote != '\'') return from;
  if (language_ == Language::Python && line.mid(from, 3) == QString(3, quote))
    return long_string(line, from, from + 3, quote == '"' ? LongString : LongStringOfApostrophes);
  // Rust's lifetimes and C++'s digit separators are not strings.
  const bool is_lifetime = language_ == Language::Rust && quote == '\'' && line.mid(from + 2, 1) != "'" &&
                           line.mid(from + 1, 1) != "\\";
  const bool is_separator = language_ == Language::C && quote == '\'' && from > 0 && line[from - 1].isDigit();
  if (is_lifetime || is_separator) return from;
  qsizetype end = from + 1;
  while (end < line.size() && line[end] != quote)
    end += line[end] == '\\' && language_ != Language::Fortran ? 2 : 1;
  end = std::min(end + 1, line.size());
  paint(from, end, string_);
  return end;
}

qsizetype Highlighter::word(const QString& line, qsizetype from) {
  const auto is_part = [](QChar letter) { return letter.isLetterOrNumber() || letter == '_'; };
  qsizetype end = from;
  while (end < line.size() && is_part(line[end])) ++end;
  const QString text = line.mid(from, end - from);
  if (keywords_.contains(language_ == Language::Fortran ? text.toLower() : text)) paint(from, end, keyword_);
  return end;
}

void Highlighter::highlightBlock(const QString& line) {
  setCurrentBlockState(Code);
  if (language_ == Language::None) return;
  qsizetype at = 0;
  if (previousBlockState() == LongString || previousBlockState() == LongStringOfApostrophes)
    at = long_string(line, 0, 0, static_cast<State>(previousBlockState()));
  // An empty line does not end a comment.
  if (line.isEmpty() && previousBlockState() == BlockComment) setCurrentBlockState(BlockComment);
  while (at < line.size()) {
    qsizetype next = comment(line, at);
    if (next == at) next = quoted(line, at);
    if (next == at) next = word(line, at);
    at = std::max(next, at + 1);
  }
}

}  // namespace prof::viewer

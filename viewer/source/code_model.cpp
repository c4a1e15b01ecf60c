#include "viewer/source/code_model.h"

#include <QFontDatabase>
#include <algorithm>

#include "analysis/words/numbers.h"
#include "viewer/document/words.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr uint32_t kMaxLoopsShown = 3;

QString hex_words(uint64_t number) {
  return QString::number(number, 16);
}

QString format_code_bytes(const std::vector<uint8_t>& bytes) {
  QStringList words;
  for (const uint8_t byte : bytes) words << QString("%1").arg(byte, 2, 16, QChar('0'));
  return words.join(' ');
}

// Returns one bar per enclosing loop, and a mark for a jump (up, down, or out of the function) or the target
// of one.
QString format_jumps(const CodeRow& row) {
  QString words(static_cast<qsizetype>(std::min(row.loops, kMaxLoopsShown)), QChar(u'\u2502'));
  if (row.is_target) words += QChar(u'\u25b8');
  if (row.target_row != kNone)
    words += *row.target <= row.offset ? QChar(u'\u2191') : QChar(u'\u2193');
  else if (row.target)
    words += QChar(u'\u2192');
  return words;
}

}  // namespace

void CodeModel::show_code(Disassembly code) {
  beginResetModel();
  code_ = std::move(code);
  sort_hottest();
  endResetModel();
}

void CodeModel::show_metric(const Metric& shown, uint32_t metric, double total) {
  beginResetModel();
  metric_ = shown;
  position_ = metric;
  total_ = total;
  sort_hottest();
  endResetModel();
}

double CodeModel::cost(int row) const {
  return position_ < code_.metrics && code_.has_costs() ? code_.cost(static_cast<size_t>(row), position_) : 0;
}

void CodeModel::sort_hottest() {
  hottest_.clear();
  for (uint32_t row = 0; row < code_.rows.size(); ++row)
    if (cost(static_cast<int>(row)) > 0) hottest_.push_back(row);
  std::ranges::stable_sort(hottest_, std::greater(),
                           [this](uint32_t row) { return cost(static_cast<int>(row)); });
}

void CodeModel::mark_line(uint32_t file, uint32_t line, const QColor& colour) {
  marked_file_ = file;
  marked_line_ = line;
  mark_ = colour;
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1), {Qt::BackgroundRole});
}

bool CodeModel::is_marked(int row) const {
  const CodeRow& at = code_.rows[static_cast<size_t>(row)];
  return marked_file_ != kNone && at.file == marked_file_ && at.line == marked_line_;
}

int CodeModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(code_.rows.size());
}

int CodeModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : Columns;
}

QVariant CodeModel::cost_data(int row, int role) const {
  const double value = cost(row);
  const double share = total_ > 0 ? value / total_ : 0;
  switch (role) {
    case Qt::DisplayRole:
      return value > 0 ? quantity(metric_, value) + "  " + percent(share) : QString();
    case Qt::ToolTipRole:
      return value > 0 ? exact_quantity(metric_, value) + ", " + percent(share) : QString();
    case kQuantityRole:
      return value > 0 ? quantity(metric_, value) : QString();
    case kShareRole:
      return value > 0 ? QVariant(share) : QVariant();
    case kExactRole:
      return value;
    default:
      return {};
  }
}

QString CodeModel::words(const CodeRow& row, int column) const {
  switch (column) {
    case Address:
      return hex_words(row.offset);
    case Bytes:
      return format_code_bytes(row.bytes);
    case Jumps:
      return format_jumps(row);
    case Text:
      return QString::fromStdString(row.text);
    default:
      break;
  }
  if (row.line == 0) return row.is_inlined ? QString::fromStdString(row.function) : QString();
  const QString line = QString::fromStdString(base_name(row.path)) + ":" + QString::number(row.line);
  return row.is_inlined ? line + "  " + QString::fromStdString(row.function) : line;
}

QString CodeModel::tip(const CodeRow& row, int column) const {
  if (column == Line)
    return row.line == 0 ? QString::fromStdString(row.function)
                         : QString::fromStdString(row.path) + ":" + QString::number(row.line) + "\n" +
                               (row.is_inlined ? "inlined: " : "") + QString::fromStdString(row.function);
  if (column != Jumps && column != Text) return {};
  QStringList lines;
  if (row.target_row != kNone)
    lines << "jumps to " + hex_words(*row.target) + " (J)";
  else if (row.target)
    lines << "leads to " + hex_words(*row.target) + ", in another function (J)";
  if (row.is_target) lines << "jump target in this function";
  if (row.loops > 0) lines << QString("in %1 %2").arg(row.loops).arg(row.loops == 1 ? "loop" : "loops");
  return lines.join('\n');
}

QVariant CodeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const CodeRow& row = code_.rows[static_cast<size_t>(index.row())];
  if (role == Qt::BackgroundRole) return is_marked(index.row()) ? QVariant(mark_) : QVariant();
  if (index.column() == Value) return cost_data(index.row(), role);
  switch (role) {
    case Qt::DisplayRole:
      return words(row, index.column());
    case Qt::ToolTipRole:
      return tip(row, index.column());
    case Qt::FontRole:
      return index.column() == Line ? QVariant() : QFontDatabase::systemFont(QFontDatabase::FixedFont);
    case Qt::TextAlignmentRole:
      return index.column() == Address ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    default:
      return {};
  }
}

QVariant CodeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole)  // like the cells below
    return QVariant::fromValue(section == Value || section == Address ? Qt::AlignRight | Qt::AlignVCenter
                                                                      : Qt::AlignLeft | Qt::AlignVCenter);
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Value:
      return position_ == kNone ? QString("cost") : QString::fromStdString(metric_.name) + " excl";
    case Address:
      return "address";
    case Bytes:
      return "bytes";
    case Jumps:
      return "jumps";
    case Text:
      return "instruction";
    default:
      return "line";
  }
}

}  // namespace prof::viewer

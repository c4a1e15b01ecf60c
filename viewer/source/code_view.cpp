#include "viewer/source/code_view.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <exception>

#include "analysis/database/stored_values.h"
#include "analysis/words/numbers.h"
#include "viewer/tables/cost_delegate.h"

namespace prof::viewer {

namespace {

constexpr const char* kSyntaxSetting = "source/syntax";
constexpr const char* kBytesSetting = "source/bytes";
constexpr const char* kIntel = "Intel";
constexpr size_t kMinLetters = 30, kMaxLetters = 100;  // width of the column of instructions

double total_of(const Database& database, uint32_t metric) {
  double total = 0;
  if (database.stored) {
    for (const StoredValues::RootCost& root : database.stored->root_costs(metric)) total += root.inclusive;
    return total;
  }
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (database.contexts[c].parent == kNone) total += database.summary(metric, c).sum.inclusive;
  return total;
}

}  // namespace

CodeView::CodeView(Document& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      title_(new QLabel),
      note_(new QLabel),
      syntax_(new QComboBox),
      bytes_(new QCheckBox("&Bytes")),
      table_(new QTreeView) {
  title_->setObjectName("function");
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  // Long names are cut instead of widening the page.
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  note_->setObjectName("note");
  note_->setWordWrap(true);
  note_->setMargin(4);
  note_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  syntax_->setObjectName("syntax");
  syntax_->addItems({"AT&T", kIntel});
  syntax_->setToolTip(
      "Syntax of instructions: AT&T, as in perf and GNU tools, or Intel, as in the processor manuals");
  syntax_->setCurrentText(QSettings().value(kSyntaxSetting, "AT&T").toString());
  bytes_->setObjectName("bytes");
  bytes_->setChecked(QSettings().value(kBytesSetting, false).toBool());
  table_->setObjectName("instructions");
  table_->setModel(&model_);
  table_->setRootIsDecorated(false);
  table_->setUniformRowHeights(true);
  table_->setAllColumnsShowFocus(true);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setItemDelegate(new CostDelegate(table_));
  table_->header()->setStretchLastSection(true);
  table_->setColumnHidden(CodeModel::Bytes, !bytes_->isChecked());
  table_->installEventFilter(this);

  auto* const above = new QHBoxLayout;
  above->setContentsMargins(4, 2, 4, 2);
  above->addWidget(title_, 1);
  above->addWidget(bytes_);
  above->addWidget(syntax_);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(above);
  column->addWidget(note_);
  column->addWidget(table_, 1);

  connect(syntax_, &QComboBox::currentTextChanged, this, [this](const QString& text) {
    QSettings().setValue(kSyntaxSetting, text);
    if (location_.module == kNone) return;
    const QModelIndex at = table_->currentIndex();
    if (at.isValid()) chosen_ = model_.code().rows[static_cast<size_t>(at.row())].offset;
    decode();
  });
  connect(bytes_, &QCheckBox::toggled, this, [this](bool shows) {
    QSettings().setValue(kBytesSetting, shows);
    table_->setColumnHidden(CodeModel::Bytes, !shows);
  });
  connect(table_, &QTreeView::activated, this, [this] { on_row_chosen(true); });
  connect(table_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    on_row_chosen(false);
    if (index.column() == CodeModel::Jumps) follow_jump();
  });
  tell();
}

CodeView::~CodeView() = default;  // waits for the thread

Syntax CodeView::syntax() const {
  return syntax_->currentText() == kIntel ? Syntax::Intel : Syntax::Att;
}

void CodeView::show_code(const CodeLocation& location, std::optional<uint64_t> chosen) {
  if (location.module == kNone) return show_nothing("its instructions are not known");
  if (location == location_ && (is_busy_ || model_.rowCount() > 0)) {
    if (is_busy_)
      chosen_ = chosen;
    else if (chosen)
      choose_row(model_.code().row_at(*chosen));
    return;
  }
  location_ = location;
  chosen_ = chosen;
  decode();
}

void CodeView::show_nothing(const QString& why) {
  ++turn_;
  is_busy_ = false;
  location_ = {};
  Disassembly nothing;
  nothing.failure = why.toStdString();
  model_.show_code(std::move(nothing));
  tell();
}

void CodeView::decode() {
  ++turn_;
  is_busy_ = true;
  if (!is_running_) start();
}

// One thread at a time: a request that arrives meanwhile runs after it.
void CodeView::start() {
  is_running_ = true;
  thread_ = std::jthread([this, turn = turn_, location = location_, syntax = syntax()] {
    Disassembly code;
    try {
      code = disassemble(document_.directory(), document_.database(), location, syntax);
    } catch (const std::exception& error) {
      code.failure = error.what();
    }
    QMetaObject::invokeMethod(
        this,
        [this, turn, code = std::move(code)] {
          is_running_ = false;
          if (turn == turn_)
            take(code);
          else if (is_busy_)
            start();
        },
        Qt::QueuedConnection);
  });
}

void CodeView::take(Disassembly code) {
  is_busy_ = false;
  model_.show_code(std::move(code));
  show_metric();
  model_.mark_line(marked_file_, marked_line_, mark_colour());
  if (chosen_)
    choose_row(model_.code().row_at(*chosen_));
  else if (!model_.hottest().empty())
    choose_row(model_.hottest().front());
  else
    choose_row(model_.code().row_at(location_.offset));
  chosen_.reset();
}

void CodeView::show_metric() {
  const CallTree& tree = document_.tree();
  if (tree.metrics() == 0) return;
  const Metric& shown = tree.metric(document_.metric());
  const Database& database = document_.database();
  const auto known = std::ranges::find_if(database.metrics, [&](const Metric& metric) {
    return metric.name == shown.name && metric.unit == shown.unit;
  });
  const QModelIndex at = table_->currentIndex();
  const int row = at.isValid() ? at.row() : -1;
  if (known == database.metrics.end()) {
    model_.show_metric(shown, kNone, 0);
  } else {
    const auto metric = static_cast<uint32_t>(known - database.metrics.begin());
    model_.show_metric(*known, metric, total_of(database, metric));
  }
  const QFontMetrics font = fontMetrics();
  const QFontMetrics fixed(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  table_->header()->resizeSection(CodeModel::Value, width_of_cost(font) * 4 / 5);
  table_->header()->resizeSection(CodeModel::Address, fixed.averageCharWidth() * 8);
  table_->header()->resizeSection(CodeModel::Bytes, fixed.averageCharWidth() * 26);
  table_->header()->resizeSection(CodeModel::Jumps, fixed.averageCharWidth() * 7);
  // Names of callees may be long. They get the room that the lines and the inlined functions after them
  // leave.
  size_t longest = kMinLetters;
  int line = 0;
  for (int r = 0; r < model_.rowCount(); ++r) {
    longest = std::max(longest, model_.code().rows[static_cast<size_t>(r)].text.size() + 2);
    const auto letters = model_.index(r, CodeModel::Line).data().toString().size() + 2;
    line = std::max(line, static_cast<int>(std::min<qsizetype>(letters, kMaxLetters)));
  }
  const int room = width_of_cost(font) * 4 / 5 + fixed.averageCharWidth() * (8 + 7) +
                   (bytes_->isChecked() ? fixed.averageCharWidth() * 26 : 0) +
                   font.averageCharWidth() * line;  // of the other columns
  const int least = fixed.averageCharWidth() * static_cast<int>(kMinLetters);
  table_->header()->resizeSection(
      CodeModel::Text, std::clamp(fixed.averageCharWidth() * static_cast<int>(std::min(longest, kMaxLetters)),
                                  least, std::max(least, std::max(width() * 2 / 5, width() - room))));
  if (row >= 0) choose_row(static_cast<uint32_t>(row));
  tell();
}

// Shows the title and remarks about the shown code.
void CodeView::tell() {
  const Disassembly& code = model_.code();
  const bool has_rows = !code.rows.empty();
  table_->setVisible(has_rows);
  const QString name = QString::fromStdString(code.function);
  title_->setText(has_rows ? name + "  (" + QString::fromStdString(base_name(code.path)) + ")"
                           : "Instructions");
  title_->setToolTip(has_rows ? name + "\n" + QString::fromStdString(code.path) : QString());
  QStringList notes;
  for (const std::string& note : {code.failure, code.note})
    if (!note.empty()) notes << QString::fromStdString(note);
  if (has_rows && code.has_costs()) {
    if (document_.chosen_time())
      notes << "costs of instructions are not available for a part of the time";
    else if (!document_.has_all_threads())
      notes << "costs of instructions are of all threads";
  }
  if (!has_rows && notes.isEmpty()) notes << "select a line to see the instructions of its function";
  note_->setText(notes.join("\n"));
  note_->setVisible(!notes.isEmpty());
}

QColor CodeView::mark_colour() const {
  QColor mark = palette().color(QPalette::Highlight);
  constexpr int kFaint = 60;
  mark.setAlpha(kFaint);
  return mark;
}

bool CodeView::mark_line(uint32_t file, uint32_t line) {
  marked_file_ = file;
  marked_line_ = line;
  model_.mark_line(file, line, mark_colour());
  int found = -1;
  for (int row = 0; row < model_.rowCount(); ++row)
    if (model_.is_marked(row) && (found < 0 || model_.cost(row) > model_.cost(found))) found = row;
  if (found < 0) return false;
  table_->scrollTo(model_.index(found, CodeModel::Value), QAbstractItemView::PositionAtCenter);
  return true;
}

void CodeView::choose_row(uint32_t row) {
  if (row >= model_.code().rows.size()) return;
  const QModelIndex index = model_.index(static_cast<int>(row), CodeModel::Value);
  table_->setCurrentIndex(index);
  table_->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

void CodeView::go_to_hot(bool next) {
  const std::vector<uint32_t>& hottest = model_.hottest();
  if (hottest.empty()) return;
  const auto here = std::ranges::find(hottest, static_cast<uint32_t>(table_->currentIndex().row()));
  const auto count = static_cast<ptrdiff_t>(hottest.size());
  ptrdiff_t at = next ? 0 : count - 1;
  if (here != hottest.end()) at = (here - hottest.begin() + (next ? 1 : count - 1)) % count;
  choose_row(hottest[static_cast<size_t>(at)]);
  on_row_chosen(false);
}

void CodeView::follow_jump() {
  const QModelIndex at = table_->currentIndex();
  if (!at.isValid()) return;
  const CodeRow& row = model_.code().rows[static_cast<size_t>(at.row())];
  if (!row.target) return;
  visited_.push_back({location_, row.offset});
  if (const uint32_t target = model_.code().row_at(*row.target); target != kNone) {
    choose_row(target);
    on_row_chosen(false);
  } else {
    show_code({location_.module, *row.target}, *row.target);
  }
}

void CodeView::go_back() {
  if (visited_.empty()) return;
  const Visited last = visited_.back();
  visited_.pop_back();
  show_code(last.function, last.offset);
}

void CodeView::on_row_chosen(bool asks) {
  const QModelIndex at = table_->currentIndex();
  if (!at.isValid()) return;
  const CodeRow& row = model_.code().rows[static_cast<size_t>(at.row())];
  if (row.file == kNone || row.line == 0) return;
  marked_file_ = row.file;
  marked_line_ = row.line;
  model_.mark_line(row.file, row.line, mark_colour());
  emit line_chosen(row.file, row.line, asks);
}

bool CodeView::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::KeyRelease) {
    switch (static_cast<QKeyEvent*>(event)->key()) {
      case Qt::Key_Up:
      case Qt::Key_Down:
      case Qt::Key_PageUp:
      case Qt::Key_PageDown:
      case Qt::Key_Home:
      case Qt::Key_End:
        on_row_chosen(false);
        break;
      default:
        break;
    }
    return false;
  }
  if (event->type() != QEvent::KeyPress) return false;
  const auto* const key = static_cast<QKeyEvent*>(event);
  if (key->modifiers() != Qt::NoModifier) return false;
  switch (key->key()) {
    case Qt::Key_N:
    case Qt::Key_P:
      go_to_hot(key->key() == Qt::Key_N);
      return true;
    case Qt::Key_J:
      follow_jump();
      return true;
    case Qt::Key_Backspace:
      go_back();
      return true;
    default:
      return false;
  }
}

void CodeView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) model_.mark_line(marked_file_, marked_line_, mark_colour());
}

}  // namespace prof::viewer

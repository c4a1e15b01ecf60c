#include "viewer/source/source_page.h"

#include <QAction>
#include <QHeaderView>
#include <QSettings>
#include <QSplitter>
#include <QVBoxLayout>
#include <utility>

#include "analysis/disassembly/machine_function.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/words/numbers.h"
#include "viewer/document/remembered.h"
#include "viewer/document/words.h"
#include "viewer/source/source_file.h"
#include "viewer/tables/cost_delegate.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr int kFileRole = Qt::UserRole + 10;
constexpr const char* kCodeSetting = "source/instructions";

}  // namespace

SourcePage::SourcePage(Document& document, QWidget* parent)
    : Page(document, parent),
      files_view_(new QTreeView),
      lines_view_(new QTreeView(this)),
      path_(new QLabel),
      search_(new TextSearch),
      view_(new SourceView(document)),
      code_(new CodeView(document)),
      shows_code_(new QAction("Instructions", this)) {
  files_view_->setModel(&files_);
  files_view_->setRootIsDecorated(false);
  files_view_->setUniformRowHeights(true);
  files_view_->setAlternatingRowColors(true);
  files_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  files_view_->setItemDelegate(new CostDelegate(files_view_));
  files_view_->setObjectName("files");
  lines_view_->setObjectName("lines");
  lines_view_->setModel(&lines_);
  lines_view_->hide();
  path_->setObjectName("path");
  path_->setWordWrap(true);
  path_->setMargin(4);
  path_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* const right = new QWidget;
  auto* const column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(path_);
  column->addWidget(search_);
  column->addWidget(view_, 1);
  // Above the text, so that both the text and the instructions are wide enough to read.
  auto* const files_and_text = new QSplitter(Qt::Vertical);
  files_and_text->addWidget(files_view_);
  files_and_text->addWidget(right);
  files_and_text->setStretchFactor(1, 1);
  constexpr int kFilesSeen = 6, kLinesSeen = 40;
  files_and_text->setSizes(
      {kFilesSeen * fontMetrics().height() * 4 / 3, kLinesSeen * fontMetrics().height()});
  remember_splitter(*files_and_text, "source-files");
  auto* const parts = new QSplitter;
  parts->addWidget(files_and_text);
  parts->addWidget(code_);
  parts->setStretchFactor(0, 1);
  parts->setStretchFactor(1, 1);
  const int letter = fontMetrics().averageCharWidth();
  parts->setSizes({letter * 115, letter * 90});
  remember_splitter(*parts, "source");
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(parts);
  make_search();
  make_code();
  connect(files_view_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    show_source(index.siblingAtColumn(0).data(kFileRole).toUInt(), 0);
  });
  connect(files_view_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    show_source(index.siblingAtColumn(0).data(kFileRole).toUInt(), 0);
  });
  const auto refill = [this] {
    is_filled_ = false;
    if (isVisible()) fill();
  };
  connect(&document, &Document::tree_changed, this, refill);
  connect(&document, &Document::tree_will_change, this, [this] { asked_frame_ = kNone; });
  connect(&document, &Document::metric_changed, this, refill);
  connect(&document, &Document::source_asked, this, [this](uint32_t file, uint32_t line) {
    asked_file_ = file;
    asked_line_ = line;
    asked_frame_ = kNone;
    this->document().ask_for_page("source");
    if (isVisible()) fill();
  });
}

void SourcePage::make_code() {
  shows_code_->setCheckable(true);
  shows_code_->setChecked(QSettings().value(kCodeSetting, true).toBool());
  shows_code_->setShortcut(Qt::Key_I);
  shows_code_->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  addAction(shows_code_);
  code_->setVisible(shows_code_->isChecked());
  connect(shows_code_, &QAction::toggled, this, [this](bool shows) {
    QSettings().setValue(kCodeSetting, shows);
    code_->setVisible(shows);
    on_line_chosen();
  });
  connect(code_, &CodeView::line_chosen, this, &SourcePage::follow_code);
  connect(view_, &QPlainTextEdit::cursorPositionChanged, this, &SourcePage::on_line_chosen);
  connect(&document(), &Document::function_asked, this, [this](uint32_t frame) {
    asked_frame_ = frame;
    asked_file_ = kNone;
    if (isVisible()) fill();
  });
}

QAbstractItemView* SourcePage::table() {
  const bool is_used = code_->isVisible() && code_->isAncestorOf(focusWidget());
  const bool is_text_used = view_ == focusWidget() && file_ != kNone;
  if (!is_used && is_text_used) {
    fill_lines();
    return lines_view_;
  }
  return is_used || asked_for_code_ ? static_cast<QAbstractItemView*>(code_->table()) : files_view_;
}

void SourcePage::fill_lines() {
  std::vector<LineModel::Row> rows;
  for (uint32_t line = 1; line <= static_cast<uint32_t>(view_->blockCount()); ++line)
    rows.push_back({line, view_->cost_of(line), view_->text_of(line)});
  lines_.show(std::move(rows), document().tree().metric(document().metric()));
}

// Returns the line at the cursor with its cost.
QString SourcePage::chosen_text() const {
  if (!view_->hasFocus() || file_ == kNone || document().tree().metrics() == 0) return {};
  const uint32_t line = view_->current_line();
  const QString path = QString::fromStdString(document().tree().database->files[file_].path);
  const QString tip = view_->tip_of(line);
  return path + ":" + QString::number(line) + "\n" + view_->text_of(line) + "\n" +
         (tip.isEmpty() ? QString() : tip + "\n");
}

void SourcePage::on_line_chosen() {
  // Without text there is no line at the cursor; show_code_of_line() is then called with a known line.
  if (file_ != kNone && !view_->QPlainTextEdit::document()->isEmpty())
    show_code_of_line(view_->current_line());
}

void SourcePage::show_code_of_line(uint32_t line) {
  if (is_following_code_ || !shows_code_->isChecked() || code_->mark_line(file_, line)) return;
  if (document().other_run())
    return code_->show_nothing("instructions are not available while two runs are compared");
  const CodeLocation location = code_of_line(document().tree(), file_, line, document().metric());
  // A line without costs does not change what is shown.
  if (location.module != kNone) code_->show_code(location);
}

void SourcePage::follow_code(uint32_t file, uint32_t line, bool asks) {
  if (file != file_ && !asks) return;
  is_following_code_ = true;
  show_source(file, line);
  is_following_code_ = false;
}

void SourcePage::show_function(uint32_t frame) {
  const CallTree& tree = document().tree();
  if (frame >= tree.frames.size()) return;
  asked_for_code_ = true;
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < tree.nodes.size(); ++node)
    if (tree.nodes[node].frame == frame) nodes.push_back(node);
  const HeaviestLine line =
      heaviest_line(tree, NodeContexts(tree), nodes, frame, LineWeight::Exclusive, document().metric());
  is_following_code_ = true;
  if (line.location.known()) {
    show_source(line.location.file, line.location.line);
  } else {
    file_ = kNone;
    files_view_->setCurrentIndex({});
    view_->show_text({}, Language::None);
    path_->setText("no source line is known for " +
                   QString::fromStdString(frame_name(*tree.database, tree.frames[frame])));
  }
  is_following_code_ = false;
  if (!shows_code_->isChecked()) return;
  if (document().other_run()) return show_code_of_line(line.location.line);
  if (line.location.known()) code_->mark_line(line.location.file, line.location.line);
  code_->show_code(code_of_frame(tree, frame, document().metric()));
}

void SourcePage::make_search() {
  const auto add_key = [this](QKeySequence::StandardKey key, auto&& act) {
    auto* const action = new QAction(this);
    action->setShortcuts(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
  };
  add_key(QKeySequence::Find, [this] { search_->start(); });
  add_key(QKeySequence::FindNext, [this] { go_to_found(true); });
  add_key(QKeySequence::FindPrevious, [this] { go_to_found(false); });
  connect(search_, &TextSearch::changed, this, [this] {
    view_->search(search_->expression());
    tell_found();
  });
  connect(search_, &TextSearch::next_asked, this, [this] { go_to_found(true); });
  connect(search_, &TextSearch::previous_asked, this, [this] { go_to_found(false); });
  connect(search_, &TextSearch::left, this, [this] { view_->setFocus(); });
}

void SourcePage::tell_found() {
  if (!search_->expression().pattern().isEmpty())
    search_->tell(view_->found() == 0 ? QString("none") : QString("%L1 found").arg(view_->found()));
}

void SourcePage::go_to_found(bool next) {
  if (const size_t number = view_->go_to_found(next); number > 0)
    search_->tell(QString("%L1 of %L2").arg(number).arg(view_->found()));
}

QString SourcePage::reason_empty() const {
  const CallTree& tree = document().tree();
  if (tree.metrics() > 0 && !file_costs(tree, document().metric()).empty()) return {};
  if (tree.metrics() == 0) return "nothing was measured: all metrics are zero";
  if (tree.totals[document().metric()] <= 0) return "nothing was measured for the selected threads and time";
  return "no source lines are known; build the program with -g";
}

void SourcePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fill();
}

void SourcePage::fill() {
  if (document().tree().metrics() == 0) return show_nothing();
  if (!is_filled_) {
    is_filled_ = true;
    fill_files();
    fill_costs();
    code_->show_metric();
  }
  if (asked_frame_ != kNone) {
    show_function(std::exchange(asked_frame_, kNone));
    if (file_ == kNone) return;
  } else if (asked_file_ != kNone) {
    asked_for_code_ = false;
    show_source(std::exchange(asked_file_, kNone), asked_line_);
  } else if (file_ == kNone) {
    show_dearest();
    return;
  }
  if (file_ == kNone) path_->setText(reason_empty());
}

void SourcePage::show_nothing() {
  is_filled_ = false;
  file_ = kNone;
  files_.clear();
  view_->show_costs({});
  view_->show_text({}, Language::None);
  path_->setText(reason_empty());
  code_->show_nothing(reason_empty());
}

// Shows the file with the highest cost whose text is readable. If a function without known lines costs more,
// shows that function's instructions.
void SourcePage::show_dearest() {
  const CallTree& tree = document().tree();
  const size_t m = document().metric();
  std::vector<double> of_frame(tree.frames.size(), 0);
  for (uint32_t node = 0; node < tree.nodes.size(); ++node)
    if (tree.frames[tree.nodes[node].frame].module != kNone)
      of_frame[tree.nodes[node].frame] += tree.cost(node, m).exclusive;
  const double in_lines = files_.rowCount() > 0 ? files_.item(0, 1)->data(kExactRole).toDouble() : 0;
  const auto most = std::ranges::max_element(of_frame);
  if (most != of_frame.end() && *most > in_lines && !document().other_run()) {
    show_function(static_cast<uint32_t>(most - of_frame.begin()));
    asked_for_code_ = false;
    const bool has_text = !view_->QPlainTextEdit::document()->isEmpty();
    if (file_ == kNone || has_text || !first_with_text()) return;
  }
  if (files_.rowCount() > 0)
    show_source(first_with_text().value_or(files_.item(0)->data(kFileRole).toUInt()), 0);
  else
    path_->setText(reason_empty());
}

// Searches only some of the most expensive files.
std::optional<uint32_t> SourcePage::first_with_text() const {
  constexpr int kMaxRead = 20;
  const std::vector<SourceFile>& files = document().tree().database->files;
  for (int row = 0; row < std::min(kMaxRead, files_.rowCount()); ++row) {
    if (files_.item(row, 1)->data(kExactRole).toDouble() <= 0) break;
    const uint32_t file = files_.item(row)->data(kFileRole).toUInt();
    if (read_source(document().directory_of_file(file), files[file]).failure.isEmpty()) return file;
  }
  return {};
}

void SourcePage::fill_files() {
  const CallTree& tree = document().tree();
  const size_t m = document().metric();
  const Metric& metric = tree.metric(m);
  files_.clear();
  files_.setHorizontalHeaderLabels({"File", QString::fromStdString(metric.name) + " excl"});
  for (const FileCost& file : file_costs(tree, m)) {
    const std::string& path = tree.database->files[file.file].path;
    auto* const name = new QStandardItem(QString::fromStdString(base_name(path)));
    name->setToolTip(QString::fromStdString(path));
    name->setData(QString::fromStdString(path), kExactRole);
    name->setData(file.file, kFileRole);
    const double share = tree.share(file.exclusive, m);
    auto* const cost = new QStandardItem(
        file.exclusive > 0 ? quantity(metric, file.exclusive) + "  " + percent(share) : QString());
    cost->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    cost->setToolTip(exact_quantity(metric, file.exclusive));
    cost->setData(file.exclusive, kExactRole);
    cost->setData(share, kShareRole);
    cost->setData(file.exclusive > 0 ? quantity(metric, file.exclusive) : QString(), kQuantityRole);
    files_.appendRow({name, cost});
  }
  files_.horizontalHeaderItem(1)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  files_view_->header()->resizeSection(0, fontMetrics().averageCharWidth() * 40);
  files_view_->header()->resizeSection(1, width_of_cost(fontMetrics()));
}

void SourcePage::fill_costs() {
  if (file_ != kNone) view_->show_costs(line_costs(document().tree(), file_, document().metric()));
}

void SourcePage::show_source(uint32_t file, uint32_t line) {
  const std::vector<SourceFile>& files = document().tree().database->files;
  if (file >= files.size()) return;
  if (file != file_) {
    file_ = file;
    const SourceFile& source = files[file];
    const QString name = QString::fromStdString(source.path);
    const SourceText text = read_source(document().directory_of_file(file), source);
    path_->setText(text.failure.isEmpty() ? name : text.failure);
    view_->show_text(text.text, language_of(name));
    tell_found();
    fill_costs();
  }
  if (line > 0)
    view_->go_to(line);
  else
    view_->go_to_hot(true);
  if (view_->QPlainTextEdit::document()->isEmpty())
    show_code_of_line(line > 0 ? line : view_->hottest_line());
  else
    on_line_chosen();
  for (int row = 0; row < files_.rowCount(); ++row)
    if (files_.item(row)->data(kFileRole).toUInt() == file)
      files_view_->setCurrentIndex(files_.index(row, 0));
}

std::vector<PageKey> SourcePage::keys() const {
  return {{"N, P", "next and previous line or instruction by cost"},
          {"I", "show or hide the instructions"},
          {"J, Backspace", "in the instructions: to the target of a jump or call, and back"},
          {"Enter", "in the instructions: the source line, also in another file"},
          {"Ctrl+F, F3, Shift+F3", "search in the text; next and previous match"}};
}

}  // namespace prof::viewer

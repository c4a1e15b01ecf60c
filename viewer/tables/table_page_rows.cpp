// Handles which rows of a table are open, selected and zoomed.

#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "analysis/views/tree/hot_path.h"
#include "viewer/document/words.h"
#include "viewer/tables/table_page.h"

namespace prof::viewer {

namespace {

constexpr int kMaxOpenedAgain = 500;  // rows, when the tree changes
constexpr size_t kMaxOpen = 2'000;    // rows, at once
constexpr qsizetype kMaxStepsShown = 4;

}  // namespace

QStringList TablePage::path_of(const QModelIndex& index) const {
  QStringList path;
  for (QModelIndex at = index.siblingAtColumn(0); at.isValid(); at = at.parent())
    path.prepend(at.data().toString());
  return path;
}

void TablePage::remember_opened(const QModelIndex& parent) {
  for (int row = 0; row < model_.rowCount(parent) && opened_.size() < kMaxOpenedAgain; ++row) {
    const QModelIndex index = model_.index(row, 0, parent);
    if (!view_->isExpanded(index)) continue;
    opened_ << path_of(index).join('\n');
    remember_opened(index);
  }
}

void TablePage::open_again(const QModelIndex& parent) {
  for (int row = 0; row < model_.rowCount(parent) && (!opened_.isEmpty() || !chosen_.isEmpty()); ++row) {
    const QModelIndex index = model_.index(row, 0, parent);
    const QString path = path_of(index).join('\n');
    if (path == chosen_) {
      chosen_.clear();
      view_->setCurrentIndex(index);
    }
    if (!opened_.remove(path)) continue;
    open_row(index);
    open_again(index);
  }
}

// Keeps rows open and selected if they are still shown; for others, their nearest visible ancestor.
void TablePage::hide_below(double percent) {
  if (!is_filled_) return model_.set_threshold(percent);
  const uint32_t current = model_.row_of(view_->currentIndex());
  std::vector<uint32_t> selected, open;
  for (const QModelIndex& index : view_->selectionModel()->selectedRows())
    selected.push_back(model_.row_of(index));
  note_open({}, open);
  model_.set_threshold(percent);
  if (model_.canFetchMore({})) model_.fetchMore({});
  for (const uint32_t row : open)
    if (const QModelIndex index = model_.index_of(row); index.isValid()) open_row(index);
  for (uint32_t row = current; row != kNone; row = model_.rows()->parent(row)) {
    const QModelIndex index = model_.index_of(row);
    if (!index.isValid()) continue;
    choose_row(index);
    break;
  }
  if (!view_->currentIndex().isValid()) view_->setCurrentIndex(model_.index(0, 0));
  for (const uint32_t row : selected)
    if (const QModelIndex index = model_.index_of(row); index.isValid())
      view_->selectionModel()->select(index, QItemSelectionModel::Select | QItemSelectionModel::Rows);
}

// Collects the open rows from top to bottom.
void TablePage::note_open(const QModelIndex& parent, std::vector<uint32_t>& rows) const {
  for (int row = 0; row < model_.rowCount(parent) && rows.size() < kMaxOpen; ++row) {
    const QModelIndex index = model_.index(row, 0, parent);
    if (!view_->isExpanded(index)) continue;
    rows.push_back(model_.row_of(index));
    note_open(index, rows);
  }
}

void TablePage::open_row(const QModelIndex& index) {
  if (model_.canFetchMore(index)) model_.fetchMore(index);
  view_->expand(index);
}

// Level by level, so that the limit leaves the deep ones closed.
void TablePage::open_all_below() {
  std::vector<QModelIndex> level{view_->currentIndex().siblingAtColumn(0)};
  size_t opened = 0;
  while (!level.empty()) {
    std::vector<QModelIndex> below;
    for (const QModelIndex& index : level) {
      if (!index.isValid() || !model_.hasChildren(index)) continue;
      if (opened >= kMaxOpen) return;
      open_row(index);
      opened += static_cast<size_t>(model_.rowCount(index));
      for (int row = 0; row < model_.rowCount(index); ++row) below.push_back(model_.index(row, 0, index));
    }
    level = std::move(below);
  }
}

void TablePage::indent_down_to(const QModelIndex& index) {
  int level = 0;
  for (QModelIndex above = index.parent(); above.isValid(); above = above.parent()) ++level;
  if (level <= deepest_) return;
  deepest_ = level;
  fit_indentation();
}

// Names in deep call paths keep half of their column.
void TablePage::fit_indentation() {
  constexpr int kMinIndentation = 2;  // pixels
  const int most = fontMetrics().averageCharWidth() * 2;
  view_->setIndentation(std::clamp(view_->columnWidth(0) / 2 / std::max(deepest_, 1), kMinIndentation, most));
}

void TablePage::choose_row(const QModelIndex& index) {
  if (!index.isValid()) return;
  view_->setCurrentIndex(index);  // opens its ancestors
  view_->scrollTo(index, QAbstractItemView::PositionAtCenter);
  view_->horizontalScrollBar()->setValue(0);
}

void TablePage::show_hot_path() {
  if (!is_filled_ || document().tree().metrics() == 0) return;
  const CallTree& tree = document().tree();
  Rows& rows = *model_.rows();
  const size_t metric = document().metric();
  // For two runs, the largest difference.
  const auto weight = [&](uint32_t of) {
    const double one = rows.weight(of, metric);
    return tree.compared ? std::abs(one - rows.weight(of, metric + tree.compared->count)) : one;
  };
  const auto heaviest = [&](const std::vector<uint32_t>& among) {
    const auto at = std::max_element(among.begin(), among.end(),
                                     [&](uint32_t a, uint32_t b) { return weight(a) < weight(b); });
    return at == among.end() ? kNone : *at;
  };
  uint32_t row = model_.row_of(view_->currentIndex());
  if (row == kNone) row = model_.zoomed() == kNone ? heaviest(rows.roots()) : model_.zoomed();
  while (row != kNone) {
    const uint32_t child = heaviest(rows.children(row));
    if (child == kNone || !continues_hot_path(tree, weight(row), weight(child), metric)) break;
    row = child;
  }
  if (row != kNone) choose_row(model_.index_of(row));
}

void TablePage::zoom(uint32_t row) {
  if (row == model_.zoomed()) return;
  zooms_.push_back(model_.zoomed());
  model_.zoom(row);
  if (model_.canFetchMore({})) model_.fetchMore({});
  if (row != kNone) view_->expand(model_.index(0, 0));
  view_->setCurrentIndex(model_.index(0, 0));
  tell_zoom();
}

void TablePage::zoom_to_selected() {
  const uint32_t row = model_.row_of(view_->currentIndex());
  if (row != kNone && reading_ != Reading::Flat) zoom(row);
}

void TablePage::zoom_back() {
  if (zooms_.empty()) return;
  const uint32_t back = zooms_.back(), from = model_.zoomed();
  zoom(back);
  zooms_.resize(zooms_.size() - 2);  // itself, and the one that zoom() has added
  choose_row(model_.index_of(from));
  tell_zoom();
}

void TablePage::tell_zoom() {
  const uint32_t row = model_.zoomed();
  zoom_label_->clear();
  if (row == kNone) return;
  QStringList steps;
  for (uint32_t at = row; at != kNone; at = model_.rows()->parent(at)) {
    const QString name = model_.name_of(model_.rows()->frame(at));
    const QString shown =
        fitted_name(name, fontMetrics(), 24 * fontMetrics().averageCharWidth()).toHtmlEscaped();
    steps.prepend(at == row ? shown : QString("<a href=\"%1\">%2</a>").arg(at).arg(shown));
  }
  if (steps.size() > kMaxStepsShown) steps = QStringList{"..."} + steps.mid(steps.size() - kMaxStepsShown);
  steps.prepend(QString("<a href=\"%1\">all</a>").arg(kNone));
  zoom_label_->setText(steps.join(" &gt; "));
}

}  // namespace prof::viewer

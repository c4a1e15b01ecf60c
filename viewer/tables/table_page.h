#pragma once
// The pages "top-down", "bottom-up" and "flat": a table of costs that can be searched, zoomed and sorted.

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QSet>
#include <QTreeView>

#include "viewer/document/page.h"
#include "viewer/tables/chosen_columns.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/search_field.h"

namespace prof::viewer {

class TablePage : public Page {
  Q_OBJECT

 public:
  TablePage(Reading reading, Document& document, QWidget* parent = nullptr);

  QString id() const override;
  QString title() const override;
  std::vector<PageKey> keys() const override;
  QString reason_empty() const override;
  bool is_complete() const override { return model_.is_complete(); }
  QWidget* main_widget() override { return view_; }
  QAbstractItemView* table() override { return view_; }
  CostModel& model() { return model_; }

  // Opens and selects the most expensive path, from the selected row or from the most expensive one.
  void show_hot_path();
  // Goes to the next (forward) or previous row whose function the search found.
  void go_to_found(bool forward);
  // Opens the rows below the selected one, up to a few thousand.
  void open_all_below();
  void zoom_to_selected();
  void zoom_back();
  // Both act on the selected row.
  void ask_for_source();
  void ask_for_instructions();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* make_bar();
  void make_keys();
  void clear_tree();
  void take_tree();
  void fill();
  void sort_by_metric();
  void search();
  void hide_below(double percent);
  void note_open(const QModelIndex& parent, std::vector<uint32_t>& rows) const;
  void open_row(const QModelIndex& index);
  void choose_row(const QModelIndex& index);
  void indent_down_to(const QModelIndex& index);
  void fit_indentation();
  void choose_function(uint32_t frame);
  void zoom(uint32_t row);
  void tell_zoom();
  void show_menu(const QPoint& at);
  QStringList path_of(const QModelIndex& index) const;
  void remember_opened(const QModelIndex& parent);
  void open_again(const QModelIndex& parent);

  const Reading reading_;
  CostModel model_;
  QTreeView* view_;
  SearchField* search_;
  QLabel* zoom_label_;
  QLabel* reason_empty_;  // shown if there is a reason
  QCheckBox* merges_;
  QDoubleSpinBox* threshold_;
  ChosenColumns columns_;
  std::vector<uint32_t> zooms_;  // previous zooms
  size_t sorted_metric_ = SIZE_MAX;
  struct Sorting {
    QString key;
    Qt::SortOrder order = Qt::DescendingOrder;
  };
  Sorting sortings_[2];  // for one run, and for two compared runs
  bool compares_ = false;
  int deepest_ = 0;  // the deepest level of rows that were selected
  bool is_filled_ = false;
  bool was_filled_ = false;
  QSet<QString> opened_;  // paths, while the tree changes
  QString chosen_;
  uint32_t asked_function_ = kNone;  // set while the page is hidden
};

}  // namespace prof::viewer

#pragma once
// Which columns a table shows: chosen by a menu on its header, and remembered, with their widths and order.

#include <QMap>
#include <QObject>
#include <QStringList>
#include <QTreeView>

#include "viewer/tables/cost_model.h"

namespace prof::viewer {

class ChosenColumns : public QObject {
  Q_OBJECT

 public:
  // `name` is that of the setting; two runs are compared by inclusive costs first, or by exclusive ones. All
  // of it outlives this.
  ChosenColumns(const QString& name, bool is_inclusive, CostModel& model, QTreeView& view);

  // Takes those that were chosen last, else function, place, module and the costs of the first metrics. The
  // costs of `metric` are always there. The model shows a tree.
  void fill(const CallTree& tree, size_t metric);
  // Takes out the columns of metrics that the tree does not have, until fill() has one that does. Before the
  // model shows it.
  void leave(const CallTree& tree);
  // Shown or not; by key. The function is always shown.
  void toggle(const CallTree& tree, const QString& key);
  // A column of a formula, at the end. Throws FormulaError.
  void add_derived(const CallTree& tree, const QString& name, const QString& formula);

  void remove_derived(const QString& name);
  // The menu, at a point of the header.
  void show_menu(const QPoint& at);

  // The widths, before the model shows another tree.
  void keep_widths();
  // Gives the column of the functions the width that the others leave, unless the user gave it one.
  void give_rest_to_functions();

 private:
  int least_of_functions() const;
  // Two runs that are compared have columns of their own; those of before come back.
  void change_mode(const CallTree& tree);
  QString setting() const { return compares_ ? name_ + "-compared" : name_; }
  // Empty: a new one.
  void ask_for_derived(const QString& name);
  void insert(const CallTree& tree, const Column& column);
  void remember() const;
  QStringList shown_keys() const;
  void set_width(int position);
  void remember_width(int position, int before, int width);
  void remember_places();
  void take_places();
  void mark_sorted();

  const QString name_;
  const bool is_inclusive_;
  CostModel& model_;
  QTreeView& view_;
  const CallTree* tree_ = nullptr;
  QStringList left_;      // keys that the tree has no metrics for
  bool is_busy_ = false;  // changes widths or places itself
  bool compares_ = false;
  QStringList kept_, kept_of_other_mode_;  // keys, while the other mode's are shown
  QMap<QString, int> widths_, widths_of_other_mode_;
};

}  // namespace prof::viewer

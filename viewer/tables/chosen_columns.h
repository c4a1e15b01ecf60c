#pragma once
// Which columns a table shows: chosen by a menu on its header, and remembered.

#include <QObject>
#include <QTreeView>

#include "viewer/tables/cost_model.h"

namespace prof::viewer {

class ChosenColumns : public QObject {
  Q_OBJECT

 public:
  // `name` is that of the setting. All of it outlives this.
  ChosenColumns(const QString& name, CostModel& model, QTreeView& view);

  // Takes those that were chosen last, else function, place, module and the costs of the first metrics. The
  // costs of `metric` are always there. The model shows a tree.
  void fill(const CallTree& tree, size_t metric);
  // Shown or not; by key. The function is always shown.
  void toggle(const CallTree& tree, const QString& key);
  // A column of a formula, at the end. Throws FormulaError.
  void add_derived(const CallTree& tree, const QString& name, const QString& formula);

  // Widens the column of the functions where the columns leave space.
  void give_rest_to_functions();

 private:
  void show_menu(const QPoint& at);
  void ask_for_derived();
  void insert(const CallTree& tree, const Column& column);
  void remember() const;
  void set_width(int position);
  void mark_sorted();

  const QString name_;
  CostModel& model_;
  QTreeView& view_;
  const CallTree* tree_ = nullptr;
};

}  // namespace prof::viewer

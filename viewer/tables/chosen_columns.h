#pragma once
// The columns that a table shows. They are selected in a menu on its header, and remembered with widths and
// order.

#include <QMap>
#include <QObject>
#include <QStringList>
#include <QTreeView>

#include "viewer/tables/cost_model.h"

namespace prof::viewer {

class ChosenColumns : public QObject {
  Q_OBJECT

 public:
  // `name` is that of the setting. `is_inclusive`: two runs are compared by inclusive costs first, else by
  // exclusive ones. The arguments must outlive this object.
  ChosenColumns(const QString& name, bool is_inclusive, CostModel& model, QTreeView& view);

  // Restores the latest selection, or else function, location, module and the costs of the first metrics. The
  // costs of `metric` are always shown. The model shows a tree.
  void fill(const CallTree& tree, size_t metric);
  // Removes the columns of metrics that the tree does not have, until fill() is called with a tree that has
  // them. Must be called before the model shows the tree.
  void leave(const CallTree& tree);
  // Shows or hides a column, by key. The function is always shown.
  void toggle(const CallTree& tree, const QString& key);
  // Adds a column with a formula at the end. Throws FormulaError.
  void add_derived(const CallTree& tree, const QString& name, const QString& formula);

  void remove_derived(const QString& name);
  // Shows the menu at a point of the header.
  void show_menu(const QPoint& at);

  // Stores the widths, before the model shows another tree.
  void keep_widths();
  // Gives the function column the remaining width, unless the user gave it one.
  void give_rest_to_functions();

 private:
  int least_of_functions() const;
  // Switches between the columns of one run and those of two compared runs. The previous columns are
  // restored.
  void change_mode(const CallTree& tree);
  QString setting() const { return compares_ ? name_ + "-compared" : name_; }
  // Asks for a derived metric; an empty name: a new one.
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
  QStringList left_;      // keys of metrics that the tree does not have
  bool is_busy_ = false;  // it is changing widths or positions itself
  bool compares_ = false;
  QStringList kept_, kept_of_other_mode_;  // keys, while those of the other mode are shown
  QMap<QString, int> widths_, widths_of_other_mode_;
};

}  // namespace prof::viewer

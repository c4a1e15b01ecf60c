#pragma once
// The page "flame-graph": from the entry points down, or from the functions with self cost.

#include <QComboBox>
#include <QScrollArea>
#include <QTreeView>
#include <memory>

#include "viewer/document/page.h"
#include "viewer/flame/flame_widget.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/search_field.h"

namespace prof::viewer {

class ChangeLegend;

class FlamePage : public Page {
  Q_OBJECT

 public:
  explicit FlamePage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "flame-graph"; }
  QString title() const override { return "Flame graph"; }
  std::vector<PageKey> keys() const override;
  QWidget* main_widget() override { return flames_; }
  QString chosen_text() const override { return flames_->text_of_chosen(); }
  // Returns a hidden table with all call paths of the graph, in its current direction.
  QAbstractItemView* table() override;
  QString reason_empty() const override;
  FlameWidget& flames() { return *flames_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  void search();
  Reading reading() const;

  SearchField* search_;
  QComboBox* direction_;
  QComboBox* widths_;
  ChangeLegend* legend_;
  QScrollArea* area_;
  FlameWidget* flames_;
  QTreeView* table_;
  std::unique_ptr<CostModel> model_;  // for the table, created when it is requested
  uint32_t asked_function_ = kNone;   // set while the page is hidden
};

// Returns the share (0..1) of the cost in matching functions (one flag per frame) and in all that they call.
double found_share(const CallTree& tree, const std::vector<bool>& frames, size_t metric);

}  // namespace prof::viewer

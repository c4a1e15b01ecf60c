#pragma once
// The page flame-graph: from the entry points on, or from the functions that spend.

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
  // All call paths of the graph, as it is turned; it is not shown.
  QAbstractItemView* table() override;
  QString why_empty() const override;
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
  std::unique_ptr<CostModel> model_;  // of the table, made when it is asked for
  uint32_t asked_function_ = kNone;   // while the page is hidden
};

// What was spent in functions that match (per frame), and in all that they call: 0..1.
double found_share(const CallTree& tree, const std::vector<bool>& frames, size_t metric);

}  // namespace prof::viewer

#pragma once
// The page flame-graph: from the entry points on, or from the functions that spend.

#include <QComboBox>
#include <QScrollArea>

#include "viewer/document/page.h"
#include "viewer/flame/flame_widget.h"
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
  uint32_t asked_function_ = kNone;  // while the page is hidden
};

// What was spent in functions that match (per frame), and in all that they call: 0..1.
double found_share(const CallTree& tree, const std::vector<bool>& frames, size_t metric);

}  // namespace prof::viewer

#pragma once
// The distribution of a metric over threads and ranks, for the whole program or the function that was
// selected last. A click on a bar or a row selects threads for all pages.

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <optional>

#include "viewer/document/page.h"
#include "viewer/threads/thread_plot.h"
#include "viewer/threads/thread_table.h"

namespace prof::viewer {

class ThreadsPage : public Page {
  Q_OBJECT

 public:
  explicit ThreadsPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "threads"; }
  QString title() const override { return "Threads"; }
  QString reason_empty() const override;
  QWidget* main_widget() override { return by_thread_; }
  QAbstractItemView* table() override { return table_; }
  std::vector<PageKey> keys() const override;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void renew();
  void fill();
  void clear_function();
  void choose_function(uint32_t frame);
  // `chosen`: indices of profiles.
  void choose(std::vector<uint32_t> chosen, bool adds);
  // `threads`: positions in shown_.
  void choose_shown(const std::vector<uint32_t>& threads, bool adds);
  QString in_words(const Metric& metric, const std::vector<double>& values) const;

  std::optional<QString> function_;  // name, by which it is found in another tree
  QLabel* sentence_;
  QComboBox* kind_;
  QPushButton* whole_program_;
  QPushButton* all_threads_;
  ThreadPlot* by_thread_;
  ThreadPlot* sorted_;
  ThreadPlot* histogram_;
  std::vector<uint32_t> shown_;  // profiles whose values are compared
  ThreadTable model_;
  QTableView* table_;
  bool is_filled_ = false;
};

}  // namespace prof::viewer

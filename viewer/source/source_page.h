#pragma once
// The page source: the files by their cost, and the lines of one of them.

#include <QLabel>
#include <QStandardItemModel>
#include <QTreeView>

#include "viewer/document/page.h"
#include "viewer/source/source_view.h"

namespace prof::viewer {

class SourcePage : public Page {
  Q_OBJECT

 public:
  explicit SourcePage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "source"; }
  QString title() const override { return "Source"; }
  std::vector<PageKey> keys() const override;
  QString why_empty() const override;
  QWidget* main_widget() override { return view_; }
  QAbstractItemView* table() override { return files_view_; }

  // Line 0: the one that costs most.
  void show_source(uint32_t file, uint32_t line);
  SourceView& view() { return *view_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  void fill_files();
  void fill_costs();

  QTreeView* files_view_;
  QStandardItemModel files_;
  QLabel* path_;
  SourceView* view_;
  bool is_filled_ = false;
  uint32_t file_ = kNone;
  uint32_t asked_file_ = kNone, asked_line_ = 0;  // while the page is hidden
};

}  // namespace prof::viewer

#pragma once
// The page "source": the files by cost, the lines of one of them, and next to them the instructions of a
// function with code of the selected line.

#include <QLabel>
#include <QStandardItemModel>
#include <QTreeView>
#include <optional>

#include "viewer/document/page.h"
#include "viewer/source/code_view.h"
#include "viewer/source/line_model.h"
#include "viewer/source/source_view.h"
#include "viewer/source/text_search.h"

namespace prof::viewer {

class SourcePage : public Page {
  Q_OBJECT

 public:
  explicit SourcePage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "source"; }
  QString title() const override { return "Source"; }
  std::vector<PageKey> keys() const override;
  QString reason_empty() const override;
  QWidget* main_widget() override { return view_; }
  bool is_complete() const override { return code_->is_complete(); }
  // Returns the instructions if they are in use or were requested, the lines if the text has the keyboard
  // focus, else the files.
  QAbstractItemView* table() override;
  QString chosen_text() const override;

  // Line 0: the most expensive line.
  void show_source(uint32_t file, uint32_t line);
  // Shows the function's instructions and its most expensive line. `frame` is an index into CallTree::frames.
  void show_function(uint32_t frame);
  void show_dearest();
  std::optional<uint32_t> first_with_text() const;
  SourceView& view() { return *view_; }
  CodeView& code() { return *code_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();
  void fill_files();
  void fill_costs();
  void fill_lines();
  void make_search();
  void make_code();
  void on_line_chosen();
  void show_nothing();
  void show_code_of_line(uint32_t line);
  void follow_code(uint32_t file, uint32_t line, bool asks);
  void tell_found();
  void go_to_found(bool next);

  QTreeView* files_view_;
  QStandardItemModel files_;
  LineModel lines_;
  QTreeView* lines_view_;  // not shown
  QLabel* path_;
  TextSearch* search_;
  SourceView* view_;
  CodeView* code_;
  QAction* shows_code_;
  bool is_following_code_ = false;  // the line is selected because its instruction was
  bool asked_for_code_ = false;     // the latest request was for a function
  bool is_filled_ = false;
  uint32_t file_ = kNone;
  // A request for a line or a function that arrived while the page was hidden.
  uint32_t asked_file_ = kNone, asked_line_ = 0;
  uint32_t asked_frame_ = kNone;
};

}  // namespace prof::viewer

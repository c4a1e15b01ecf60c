#pragma once
// The instructions of a function beside the source, with what was spent at each of them. They are decoded in
// a thread of their own: reading the debug information of a large program takes longer than a repaint.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTreeView>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "viewer/document/document.h"
#include "viewer/source/code_model.h"

namespace prof::viewer {

class CodeView : public QWidget {
  Q_OBJECT

 public:
  explicit CodeView(Document& document, QWidget* parent = nullptr);
  ~CodeView() override;

  // The function that has the instruction there, chosen by the hottest one or, where `chosen` is told, by
  // that.
  void show_code(const CodePlace& place, std::optional<uint64_t> chosen = {});
  // Where there is none to show, and why not.
  void show_nothing(const QString& why);
  // The metric that the document shows first.
  void show_metric();
  // Marks the instructions of a line of a file of the database. False: this function has none of it.
  bool mark_line(uint32_t file, uint32_t line);
  bool is_complete() const { return !is_busy_; }
  // To the next instruction by falling cost, or the one before.
  void go_to_hot(bool next);
  // To where the chosen row's jump or call leads, and back to where it was.
  void follow_jump();
  void go_back();

  QTreeView* table() const { return table_; }
  const CodeModel& model() const { return model_; }

 signals:
  // The user came to an instruction of it; `asks`: and wants to be shown the line.
  void line_chosen(uint32_t file, uint32_t line, bool asks);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Visited {
    CodePlace function;
    uint64_t offset = 0;
  };

  void decode();
  void start();
  void take(Disassembly code);
  void tell();
  void choose_row(uint32_t row);
  void on_row_chosen(bool asks);
  QColor mark_colour() const;
  Syntax syntax() const;

  Document& document_;
  CodeModel model_;
  QLabel* title_;
  QLabel* note_;
  QComboBox* syntax_;
  QCheckBox* bytes_;
  QTreeView* table_;
  CodePlace place_;
  std::optional<uint64_t> chosen_;
  std::vector<Visited> visited_;  // to go back to
  uint32_t marked_file_ = kNone, marked_line_ = 0;
  bool is_busy_ = false;     // the function at place_ is not there yet
  bool is_running_ = false;  // the thread is at work, maybe for what nobody wants any more
  uint64_t turn_ = 0;        // of the decoding whose result counts
  std::jthread thread_;
};

}  // namespace prof::viewer

#pragma once
// The instructions of a function next to the source, with the cost of each. They are decoded in a separate
// thread: reading the debug information of a large program takes longer than a repaint.

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

  // Shows the function that contains the instruction. Selects the most expensive one, or the one at `chosen`
  // if it is set.
  void show_code(const CodeLocation& location, std::optional<uint64_t> chosen = {});
  // Shows the reason why there is no code to show.
  void show_nothing(const QString& why);
  // Shows the document's current metric.
  void show_metric();
  // Marks the instructions of a line of a file of the database. Returns false if this function has none.
  bool mark_line(uint32_t file, uint32_t line);
  bool is_complete() const { return !is_busy_; }
  // Goes to the next or the previous instruction by descending cost.
  void go_to_hot(bool next);
  // Goes to the target of the selected row's jump or call, and back.
  void follow_jump();
  void go_back();

  QTreeView* table() const { return table_; }
  const CodeModel& model() const { return model_; }

 signals:
  // Emitted when the user selects an instruction of the line. `asks`: the user requested to see the line.
  void line_chosen(uint32_t file, uint32_t line, bool asks);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Visited {
    CodeLocation function;
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
  CodeLocation location_;
  std::optional<uint64_t> chosen_;
  std::vector<Visited> visited_;  // places to go back to
  uint32_t marked_file_ = kNone, marked_line_ = 0;
  bool is_busy_ = false;     // the function at location_ is not decoded yet
  bool is_running_ = false;  // the thread is running, possibly for an outdated request
  uint64_t turn_ = 0;        // number of the decoding whose result counts
  std::jthread thread_;
};

}  // namespace prof::viewer

#pragma once
// What any table shows, as text: of what is selected for the clipboard, of all of it as CSV.

#include <QAbstractItemView>
#include <QString>
#include <filesystem>

namespace prof::viewer {

// The selected rows as they are shown, from above, with the columns' names above them, tabs between columns;
// children two spaces further in.
QString text_of_selection(const QAbstractItemView& view);

// All rows that there are, loaded or not, with exact values where the model knows them (kExactRole). RFC
// 4180; "-" is standard output. Throws std::runtime_error, with one line.
void write_csv(QAbstractItemModel& model, const std::filesystem::path& file);

// Of an item: the value without words, for CSV.
constexpr int kExactRole = Qt::UserRole + 1;

}  // namespace prof::viewer

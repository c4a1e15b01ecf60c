#pragma once
// Tables as text: the selection for the clipboard, everything as CSV.

#include <QAbstractItemView>
#include <QString>
#include <filesystem>

namespace prof::viewer {

// Returns the selected rows as they are shown, in order, with column names on top and tabs between columns.
// Children are indented by two spaces.
QString text_of_selection(const QAbstractItemView& view);

// Writes all rows, loaded or not, with exact values if the model has them (kExactRole). RFC 4180; "-" is
// standard output. Throws std::runtime_error with a one-line message.
void write_csv(QAbstractItemModel& model, const std::filesystem::path& file);

// Role of an item: the plain value, for CSV.
constexpr int kExactRole = Qt::UserRole + 1;

}  // namespace prof::viewer

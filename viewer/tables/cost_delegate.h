#pragma once
// Paints costs: a bar for the share of the total, the quantity and the share in columns of their own, and a
// mark on search results.

#include <QStyledItemDelegate>

namespace prof::viewer {

class CostDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

// Returns the width that a column of costs needs.
int width_of_cost(const QFontMetrics& font);

}  // namespace prof::viewer

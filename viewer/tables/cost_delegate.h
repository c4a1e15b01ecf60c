#pragma once
// Paints costs: a bar for the share of all, the quantity and the share in columns of their own, and a mark on
// what a search found.

#include <QStyledItemDelegate>

namespace prof::viewer {

class CostDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

// How wide a column of costs has to be.
int width_of_cost(const QFontMetrics& font);

}  // namespace prof::viewer

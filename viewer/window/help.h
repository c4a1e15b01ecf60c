#pragma once
// A dialog with all keys: those of the window's menus, and those of each page.

#include <QDialog>
#include <QMenuBar>
#include <vector>

#include "viewer/document/page.h"

namespace prof::viewer {

// A non-modal dialog that deletes itself when it is closed.
class Help : public QDialog {
  Q_OBJECT

 public:
  Help(const QMenuBar& menus, const std::vector<const Page*>& pages, QWidget* parent);
};

}  // namespace prof::viewer

#include "viewer/document/remembered.h"

#include <QSettings>

namespace prof::viewer {

void remember_splitter(QSplitter& splitter, const QString& name) {
  const QString setting = "splitters/" + name;
  splitter.restoreState(QSettings().value(setting).toByteArray());
  QObject::connect(&splitter, &QSplitter::splitterMoved, &splitter,
                   [&splitter, setting] { QSettings().setValue(setting, splitter.saveState()); });
}

}  // namespace prof::viewer

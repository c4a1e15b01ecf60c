#include <QApplication>
#include <QBuffer>
#include <QCryptographicHash>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <cstdio>
int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QWidget window;
  QVBoxLayout layout(&window);
  QTreeWidget tree;
  tree.setColumnCount(2);
  for (int i = 0; i < 3000; ++i) {
    auto* top = new QTreeWidgetItem(&tree, {QString::number(i), QString::number(i * 7919 % 10007)});
    for (int k = 0; k < 5; ++k) new QTreeWidgetItem(top, {QString::number(k), "child"});
  }
  tree.setSortingEnabled(true);
  layout.addWidget(&tree);
  window.resize(600, 400);
  window.show();
  int frames = 0;
  QImage image(800, 600, QImage::Format_ARGB32);
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, [&] {
    tree.sortByColumn(frames % 2, frames % 3 ? Qt::AscendingOrder : Qt::DescendingOrder);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int i = 0; i < 400; ++i) painter.drawEllipse(QPointF(i * 2, 300), i + frames, 400 - i);
    painter.end();
    window.grab();
    if (++frames == 25) application.exit(3);
  });
  timer.start(1);
  const int status = application.exec();
  const QByteArray pixels(reinterpret_cast<const char*>(image.constBits()), image.sizeInBytes());
  std::printf("%d %s\n", frames,
              QCryptographicHash::hash(pixels, QCryptographicHash::Sha1).toHex().constData());
  return status;
}

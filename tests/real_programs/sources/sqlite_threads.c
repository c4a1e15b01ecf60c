/* Each thread fills and asks a database of its own; SQLite's allocator and its caches are for all of them. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROWS = 150000, QUESTIONS = 8 };
static long answers[THREADS];

static void must(int status, int wanted) {
  if (status != wanted) {
    fprintf(stderr, "sqlite: %d\n", status);
    exit(1);
  }
}

static void execute(sqlite3* database, const char* text) {
  must(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK);
}

static void* work(void* number) {
  const long self = (long)number;
  sqlite3* database;
  sqlite3_stmt* insert;
  must(sqlite3_open(":memory:", &database), SQLITE_OK);
  execute(database, "create table t (a integer, b text); begin");
  must(sqlite3_prepare_v2(database, "insert into t values (?, ?)", -1, &insert, NULL), SQLITE_OK);
  for (long i = 0; i < ROWS; ++i) {
    char text[40];
    snprintf(text, sizeof text, "%lx", (i + self) * 2654435761 % 4294967296);
    sqlite3_bind_int64(insert, 1, i * 7919 % 10007);
    sqlite3_bind_text(insert, 2, text, -1, SQLITE_TRANSIENT);
    must(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  execute(database, "commit; create index i on t (b)");
  for (int question = 0; question < QUESTIONS; ++question) {
    sqlite3_stmt* ask;
    must(sqlite3_prepare_v2(database, "select sum(length(b) * a) from t where b >= ?", -1, &ask, NULL),
         SQLITE_OK);
    sqlite3_bind_text(ask, 1, "12345678" + question, -1, SQLITE_STATIC);
    must(sqlite3_step(ask), SQLITE_ROW);
    answers[self] += sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
  }
  must(sqlite3_close(database), SQLITE_OK);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i) printf("%ld\n", answers[i]);
  return 0;
}

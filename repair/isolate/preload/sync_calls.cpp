// libprof-isolate.so: interposes on all calls by which threads synchronise. In a converted thread each
// commits the private pages: the thread's stores before the call publishes them, and those of others after it
// (TMI, section 3.3; C++, [intro.races]). In a program without data races, other threads do not access the
// data between two such calls.
//
// The object of such a call (a mutex, a semaphore, a futex word) must be the same for all threads at any
// time. If it lies on a private page, that page becomes common at the converted thread's first call.
//
// A call is listed here unless it certainly does not synchronise. A commit costs less than a system call, and
// nothing in threads that are not converted.

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "repair/isolate/preload/committing.h"
#include "repair/isolate/preload/cxx_library.h"

using namespace hpcrun;

// Read-write and spin locks
HPCRUN_OBJECT(Us, int, pthread_rwlock_rdlock, (pthread_rwlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_wrlock, (pthread_rwlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_trywrlock, (pthread_rwlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * object, const timespec* until),
              (object, until), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * object, const timespec* until),
              (object, until), noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_clockrdlock,
              (pthread_rwlock_t * object, clockid_t clock, const timespec* until), (object, clock, until),
              noexcept);
HPCRUN_OBJECT(Us, int, pthread_rwlock_clockwrlock,
              (pthread_rwlock_t * object, clockid_t clock, const timespec* until), (object, clock, until),
              noexcept);
HPCRUN_OBJECT(Others, int, pthread_rwlock_unlock, (pthread_rwlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_spin_lock, (pthread_spinlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, pthread_spin_trylock, (pthread_spinlock_t * object), (object), noexcept);
HPCRUN_OBJECT(Others, int, pthread_spin_unlock, (pthread_spinlock_t * object), (object), noexcept);

// Barriers, semaphores
HPCRUN_OBJECT(Both, int, pthread_barrier_wait, (pthread_barrier_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, sem_wait, (sem_t * object), (object));
HPCRUN_OBJECT(Us, int, sem_trywait, (sem_t * object), (object), noexcept);
HPCRUN_OBJECT(Us, int, sem_timedwait, (sem_t * object, const timespec* until), (object, until));
HPCRUN_OBJECT(Us, int, sem_clockwait, (sem_t * object, clockid_t clock, const timespec* until),
              (object, clock, until));
HPCRUN_OBJECT(Us, int, sem_getvalue, (sem_t * object, int* value), (object, value), noexcept);
HPCRUN_OBJECT(Others, int, sem_post, (sem_t * object), (object), noexcept);

// The effects of a once-function must be visible to each thread that finds it done.
namespace {

using Once = void (*)();
thread_local constinit Once once = nullptr;

void do_once() {
  once();
  commit_own_pages(Stores::Own);
}

template <typename Call>
auto doing_once(void* flag, Once what, Call call) {
  keep_common(flag);
  const Once before = once;  // of a call that this handler interrupted
  once = what;
  const auto restore = [=] { once = before; };
  if constexpr (std::is_void_v<decltype(call())>) {
    committed<Tells::Us>(call);
    restore();
  } else {
    const auto result = committed<Tells::Us>(call);
    restore();
    return result;
  }
}

}  // namespace

HPCRUN_NEXT_OF(pthread_once);
HPCRUN_EXPORT int pthread_once(pthread_once_t* flag, Once what) {
  return doing_once(flag, what, [=] { return HPCRUN_NEXT(pthread_once)(flag, do_once); });
}
HPCRUN_NEXT_OF(call_once);
HPCRUN_EXPORT void call_once(once_flag* flag, Once what) {
  doing_once(flag, what, [=] { HPCRUN_NEXT(call_once)(flag, do_once); });
}

// Static variables of functions, by the C++ runtime, which the program may not have.
extern "C" {
int __cxa_guard_acquire(uint64_t* object);
void __cxa_guard_release(uint64_t* object);
void __cxa_guard_abort(uint64_t* object);
}
HPCRUN_NEXT_OF_IF(has_cxx_library(), __cxa_guard_acquire);
HPCRUN_OBJECT_BEHIND(Us, int, __cxa_guard_acquire, (uint64_t * object), (object));
HPCRUN_NEXT_OF_IF(has_cxx_library(), __cxa_guard_release);
HPCRUN_OBJECT_BEHIND(Others, void, __cxa_guard_release, (uint64_t * object), (object));
HPCRUN_NEXT_OF_IF(has_cxx_library(), __cxa_guard_abort);
HPCRUN_OBJECT_BEHIND(Others, void, __cxa_guard_abort, (uint64_t * object), (object));

// Signals
HPCRUN_TELLS(Others, int, kill, (pid_t process, int number), (process, number), noexcept);
HPCRUN_TELLS(Others, int, raise, (int number), (number), noexcept);
HPCRUN_TELLS(Others, int, pthread_kill, (pthread_t thread, int number), (thread, number), noexcept);
HPCRUN_TELLS(Others, int, pthread_sigqueue, (pthread_t thread, int number, const sigval value),
             (thread, number, value), noexcept);
HPCRUN_TELLS(Others, int, sigqueue, (pid_t process, int number, const sigval value), (process, number, value),
             noexcept);
HPCRUN_TELLS(Both, int, sigwait, (const sigset_t* signals, int* number), (signals, number));
HPCRUN_TELLS(Both, int, sigwaitinfo, (const sigset_t* signals, siginfo_t* info), (signals, info));
HPCRUN_WAITS(int, sigtimedwait, (const sigset_t* signals, siginfo_t* info, const timespec* time),
             (signals, info, time));
HPCRUN_TELLS(Both, int, sigsuspend, (const sigset_t* signals), (signals));
HPCRUN_TELLS(Both, int, pause, (), ());

// Time and yielding: a thread that polls memory lets others run meanwhile.
HPCRUN_TELLS(Both, int, sched_yield, (), (), noexcept);
HPCRUN_TELLS(Both, void, thrd_yield, (), ());
HPCRUN_WAITS(unsigned, sleep, (unsigned seconds), (seconds));
HPCRUN_WAITS(int, usleep, (useconds_t us), (us));
HPCRUN_WAITS(int, nanosleep, (const timespec* time, timespec* left), (time, left));
HPCRUN_WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left),
             (clock, flags, time, left));
HPCRUN_WAITS(int, thrd_sleep, (const timespec* time, timespec* left), (time, left));

// Descriptors: pipes and sockets between threads
HPCRUN_TELLS(Both, ssize_t, read, (int file, void* data, size_t bytes), (file, data, bytes));
HPCRUN_TELLS(Both, ssize_t, write, (int file, const void* data, size_t bytes), (file, data, bytes));
HPCRUN_TELLS(Both, ssize_t, readv, (int file, const iovec* pieces, int count), (file, pieces, count));
HPCRUN_TELLS(Both, ssize_t, writev, (int file, const iovec* pieces, int count), (file, pieces, count));
HPCRUN_TELLS(Both, ssize_t, pread, (int file, void* data, size_t bytes, off_t offset),
             (file, data, bytes, offset));
HPCRUN_TELLS(Both, ssize_t, pwrite, (int file, const void* data, size_t bytes, off_t offset),
             (file, data, bytes, offset));
HPCRUN_TELLS(Both, ssize_t, pread64, (int file, void* data, size_t bytes, off64_t offset),
             (file, data, bytes, offset));
HPCRUN_TELLS(Both, ssize_t, pwrite64, (int file, const void* data, size_t bytes, off64_t offset),
             (file, data, bytes, offset));
HPCRUN_TELLS(Both, ssize_t, recv, (int socket, void* data, size_t bytes, int flags),
             (socket, data, bytes, flags));
HPCRUN_TELLS(Both, ssize_t, recvfrom,
             (int socket, void* data, size_t bytes, int flags, sockaddr* from, socklen_t* from_bytes),
             (socket, data, bytes, flags, from, from_bytes));
HPCRUN_TELLS(Both, ssize_t, recvmsg, (int socket, msghdr* message, int flags), (socket, message, flags));
HPCRUN_TELLS(Both, ssize_t, send, (int socket, const void* data, size_t bytes, int flags),
             (socket, data, bytes, flags));
HPCRUN_TELLS(Both, ssize_t, sendto,
             (int socket, const void* data, size_t bytes, int flags, const sockaddr* to, socklen_t to_bytes),
             (socket, data, bytes, flags, to, to_bytes));
HPCRUN_TELLS(Both, ssize_t, sendmsg, (int socket, const msghdr* message, int flags),
             (socket, message, flags));
HPCRUN_TELLS(Both, int, accept, (int socket, sockaddr* from, socklen_t* bytes), (socket, from, bytes));
HPCRUN_TELLS(Both, int, accept4, (int socket, sockaddr* from, socklen_t* bytes, int flags),
             (socket, from, bytes, flags));
HPCRUN_WAITS(int, poll, (pollfd * files, nfds_t count, int ms), (files, count, ms));
HPCRUN_WAITS(int, ppoll, (pollfd * files, nfds_t count, const timespec* time, const sigset_t* signals),
             (files, count, time, signals));
HPCRUN_TELLS(Both, int, select, (int count, fd_set* in, fd_set* out, fd_set* other, timeval* time),
             (count, in, out, other, time));
HPCRUN_TELLS(Both, int, pselect,
             (int count, fd_set* in, fd_set* out, fd_set* other, const timespec* time,
              const sigset_t* signals),
             (count, in, out, other, time, signals));
HPCRUN_WAITS(int, epoll_wait, (int set, epoll_event* events, int count, int ms), (set, events, count, ms));
HPCRUN_WAITS(int, epoll_pwait, (int set, epoll_event* events, int count, int ms, const sigset_t* signals),
             (set, events, count, ms, signals));
HPCRUN_TELLS(Both, int, eventfd_read, (int file, eventfd_t* value), (file, value));
HPCRUN_TELLS(Both, int, eventfd_write, (int file, eventfd_t value), (file, value));

// As called by programs that were compiled with _FORTIFY_SOURCE.
extern "C" {
ssize_t __read_chk(int file, void* data, size_t bytes, size_t room);
ssize_t __pread_chk(int file, void* data, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int file, void* data, size_t bytes, off64_t offset, size_t room);
ssize_t __recv_chk(int socket, void* data, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int socket, void* data, size_t bytes, size_t room, int flags, sockaddr* from,
                       socklen_t* from_bytes);
int __poll_chk(pollfd* files, nfds_t count, int ms, size_t room);
int __ppoll_chk(pollfd* files, nfds_t count, const timespec* time, const sigset_t* signals, size_t room);
}
HPCRUN_TELLS(Both, ssize_t, __read_chk, (int file, void* data, size_t bytes, size_t room),
             (file, data, bytes, room));
HPCRUN_TELLS(Both, ssize_t, __pread_chk, (int file, void* data, size_t bytes, off_t offset, size_t room),
             (file, data, bytes, offset, room));
HPCRUN_TELLS(Both, ssize_t, __pread64_chk, (int file, void* data, size_t bytes, off64_t offset, size_t room),
             (file, data, bytes, offset, room));
HPCRUN_TELLS(Both, ssize_t, __recv_chk, (int socket, void* data, size_t bytes, size_t room, int flags),
             (socket, data, bytes, room, flags));
HPCRUN_TELLS(Both, ssize_t, __recvfrom_chk,
             (int socket, void* data, size_t bytes, size_t room, int flags, sockaddr* from,
              socklen_t* from_bytes),
             (socket, data, bytes, room, flags, from, from_bytes));
HPCRUN_WAITS(int, __poll_chk, (pollfd * files, nfds_t count, int ms, size_t room), (files, count, ms, room));
HPCRUN_WAITS(int, __ppoll_chk,
             (pollfd * files, nfds_t count, const timespec* time, const sigset_t* signals, size_t room),
             (files, count, time, signals, room));

// Queues and semaphores of the system
HPCRUN_TELLS(Both, int, msgsnd, (int queue, const void* data, size_t bytes, int flags),
             (queue, data, bytes, flags));
HPCRUN_TELLS(Both, ssize_t, msgrcv, (int queue, void* data, size_t bytes, long type, int flags),
             (queue, data, bytes, type, flags));
HPCRUN_TELLS(Both, int, semop, (int set, sembuf* operations, size_t count), (set, operations, count),
             noexcept);
HPCRUN_WAITS(int, semtimedop, (int set, sembuf* operations, size_t count, const timespec* time),
             (set, operations, count, time));
HPCRUN_TELLS(Both, int, mq_send, (mqd_t queue, const char* data, size_t bytes, unsigned priority),
             (queue, data, bytes, priority));
HPCRUN_TELLS(Both, ssize_t, mq_receive, (mqd_t queue, char* data, size_t bytes, unsigned* priority),
             (queue, data, bytes, priority));

// Streams
HPCRUN_TELLS(Us, void, flockfile, (FILE * stream), (stream), noexcept);
HPCRUN_TELLS(Us, int, ftrylockfile, (FILE * stream), (stream), noexcept);
HPCRUN_TELLS(Others, void, funlockfile, (FILE * stream), (stream), noexcept);

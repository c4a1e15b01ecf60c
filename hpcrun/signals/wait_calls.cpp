// Functions of the C library that a sample would make return early: with EINTR, or having read or written
// less than otherwise (signal(7)). Functions that the kernel restarts transparently (wait, flock, open,
// futexes without a timeout) are not here, and neither are those that retry themselves (stdio, getentropy,
// getaddrinfo, condition variables). These are sampled while they wait. Each function keeps the contract of
// the one it replaces: cancellation point, async-signal-safe, errno.

#include <aio.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun/signals/wait_calls.h"

// Takes the function's result, name and parameters.
#define WAITS(result, name, parameters, ...)             \
  HPCRUN_NEXT_OF_TYPE(name, result parameters);          \
  HPCRUN_EXPORT result name parameters {                 \
    return HPCRUN_CALL_UNINTERRUPTED(name, __VA_ARGS__); \
  }                                                      \
  static_assert(true)
// The same for functions declared noexcept in a header. Cancelled or not, they do not unwind.
#define WAITS_NOEXCEPT(result, name, parameters, ...)    \
  HPCRUN_NEXT_OF_TYPE(name, result parameters);          \
  HPCRUN_EXPORT result name parameters noexcept {        \
    return HPCRUN_CALL_UNINTERRUPTED(name, __VA_ARGS__); \
  }                                                      \
  static_assert(true)

// Sleep.
WAITS(int, nanosleep, (const timespec* time, timespec* left), time, left);
WAITS(int, __nanosleep, (const timespec* time, timespec* left), time, left);
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left), clock, flags,
      time, left);
WAITS(int, usleep, (useconds_t time), time);
WAITS(unsigned, sleep, (unsigned seconds), seconds);
WAITS(int, thrd_sleep, (const timespec* time, timespec* left), time, left);
WAITS(int, pause, ());

// Readiness.
WAITS(int, poll, (pollfd * descriptors, nfds_t count, int timeout), descriptors, count, timeout);
WAITS(int, __poll, (pollfd * descriptors, nfds_t count, int timeout), descriptors, count, timeout);
WAITS(int, __poll_chk, (pollfd * descriptors, nfds_t count, int timeout, size_t bytes), descriptors, count,
      timeout, bytes);
WAITS(int, select, (int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout), count, read,
      write, except, timeout);
WAITS(int, __select, (int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout), count, read,
      write, except, timeout);
WAITS(int, epoll_wait, (int descriptor, epoll_event* events, int most, int timeout), descriptor, events, most,
      timeout);

// Transfer. Pipes, sockets, terminals and devices return what they have so far.
WAITS(ssize_t, read, (int from, void* to, size_t bytes), from, to, bytes);
WAITS(ssize_t, __read, (int from, void* to, size_t bytes), from, to, bytes);
WAITS(ssize_t, __read_chk, (int from, void* to, size_t bytes, size_t room), from, to, bytes, room);
WAITS(ssize_t, readv, (int from, const iovec* to, int count), from, to, count);
WAITS(ssize_t, write, (int to, const void* from, size_t bytes), to, from, bytes);
WAITS(ssize_t, __write, (int to, const void* from, size_t bytes), to, from, bytes);
WAITS(ssize_t, writev, (int to, const iovec* from, int count), to, from, count);
WAITS_NOEXCEPT(ssize_t, sendfile, (int to, int from, off_t* offset, size_t bytes), to, from, offset, bytes);
WAITS_NOEXCEPT(ssize_t, sendfile64, (int to, int from, off64_t* offset, size_t bytes), to, from, offset,
               bytes);
WAITS(ssize_t, splice, (int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes, unsigned flags),
      from, from_at, to, to_at, bytes, flags);
WAITS(ssize_t, tee, (int from, int to, size_t bytes, unsigned flags), from, to, bytes, flags);
WAITS(ssize_t, vmsplice, (int to, const iovec* from, size_t count, unsigned flags), to, from, count, flags);
WAITS(ssize_t, copy_file_range,
      (int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes, unsigned flags), from, from_at, to,
      to_at, bytes, flags);
WAITS(ssize_t, getrandom, (void* to, size_t bytes, unsigned flags), to, bytes, flags);

// Sockets, which have timeouts, too.
WAITS(int, accept, (int socket, sockaddr* address, socklen_t* bytes), socket, address, bytes);
WAITS(int, accept4, (int socket, sockaddr* address, socklen_t* bytes, int flags), socket, address, bytes,
      flags);
WAITS(int, connect, (int socket, const sockaddr* address, socklen_t bytes), socket, address, bytes);
WAITS(int, __connect, (int socket, const sockaddr* address, socklen_t bytes), socket, address, bytes);
WAITS(ssize_t, recv, (int socket, void* to, size_t bytes, int flags), socket, to, bytes, flags);
WAITS(ssize_t, __recv, (int socket, void* to, size_t bytes, int flags), socket, to, bytes, flags);
WAITS(ssize_t, __recv_chk, (int socket, void* to, size_t bytes, size_t room, int flags), socket, to, bytes,
      room, flags);
WAITS(ssize_t, recvfrom,
      (int socket, void* to, size_t bytes, int flags, sockaddr* address, socklen_t* address_bytes), socket,
      to, bytes, flags, address, address_bytes);
WAITS(ssize_t, __recvfrom_chk,
      (int socket, void* to, size_t bytes, size_t room, int flags, sockaddr* address,
       socklen_t* address_bytes),
      socket, to, bytes, room, flags, address, address_bytes);
WAITS(ssize_t, recvmsg, (int socket, msghdr* message, int flags), socket, message, flags);
WAITS(int, recvmmsg, (int socket, mmsghdr* messages, unsigned count, int flags, timespec* timeout), socket,
      messages, count, flags, timeout);
WAITS(ssize_t, send, (int socket, const void* from, size_t bytes, int flags), socket, from, bytes, flags);
WAITS(ssize_t, __send, (int socket, const void* from, size_t bytes, int flags), socket, from, bytes, flags);
WAITS(ssize_t, sendto,
      (int socket, const void* from, size_t bytes, int flags, const sockaddr* address,
       socklen_t address_bytes),
      socket, from, bytes, flags, address, address_bytes);
WAITS(ssize_t, sendmsg, (int socket, const msghdr* message, int flags), socket, message, flags);
WAITS(int, sendmmsg, (int socket, mmsghdr* messages, unsigned count, int flags), socket, messages, count,
      flags);
WAITS(int, __sendmmsg, (int socket, mmsghdr* messages, unsigned count, int flags), socket, messages, count,
      flags);

// Semaphores and messages.
WAITS(int, sem_timedwait, (sem_t * semaphore, const timespec* until), semaphore, until);
WAITS(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until), semaphore, clock,
      until);
WAITS_NOEXCEPT(int, semop, (int set, sembuf* operations, size_t count), set, operations, count);
WAITS_NOEXCEPT(int, semtimedop, (int set, sembuf* operations, size_t count, const timespec* timeout), set,
               operations, count, timeout);
WAITS(ssize_t, msgrcv, (int queue, void* to, size_t bytes, long type, int flags), queue, to, bytes, type,
      flags);
WAITS(int, msgsnd, (int queue, const void* from, size_t bytes, int flags), queue, from, bytes, flags);

// Asynchronous requests.
WAITS(int, aio_suspend, (const aiocb* const list[], int count, const timespec* timeout), list, count,
      timeout);
WAITS(int, aio_suspend64, (const aiocb64* const list[], int count, const timespec* timeout), list, count,
      timeout);
WAITS(int, lio_listio, (int mode, aiocb* const list[], int count, sigevent* event), mode, list, count, event);
WAITS(int, lio_listio64, (int mode, aiocb64* const list[], int count, sigevent* event), mode, list, count,
      event);
WAITS(int, gai_suspend, (const gaicb* const list[], int count, const timespec* timeout), list, count,
      timeout);

// Terminals and devices.
WAITS(int, tcdrain, (int terminal), terminal);

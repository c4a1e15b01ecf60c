"""Stores and reads values: memcached_load.py PORT."""

import socket
import sys
import threading

totals = []


def load(worker):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        stream = connection.makefile("rwb")
        read = 0
        for i in range(3000):
            value = b"%d" % (i * 31) * 100
            stream.write(b"set k%d-%d 0 0 %d\r\n%s\r\nget k%d-%d\r\n" % (worker, i, len(value), value, worker, i))
            stream.flush()
            assert stream.readline() == b"STORED\r\n"
            assert stream.readline().startswith(b"VALUE ")
            read += stream.readline() == value + b"\r\n"
            assert stream.readline() == b"END\r\n"
        totals.append(read)


workers = [threading.Thread(target=load, args=(n,)) for n in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(totals)

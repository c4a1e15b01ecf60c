import multiprocessing
import threading
import zlib


def compress(n):
    data = bytes(i * n % 251 for i in range(200_000))
    for _ in range(6):
        data = zlib.decompress(zlib.compress(data, 9))
    return zlib.crc32(data)


if __name__ == "__main__":
    results = {}
    workers = [threading.Thread(target=lambda n=n: results.update({n: compress(n)})) for n in range(1, 6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with multiprocessing.Pool(2) as pool:
        print(sorted(results.items()), pool.map(compress, range(6, 10)))

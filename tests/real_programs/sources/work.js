const crypto = require("crypto");
const zlib = require("zlib");
const { Worker, isMainThread, parentPort } = require("worker_threads");
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sieve(n) {
  const composite = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; ++i) {
    if (composite[i]) continue;
    ++count;
    for (let j = i * 2; j <= n; j += i) composite[j] = 1;
  }
  return count;
}
if (isMainThread) {
  const text = JSON.stringify(Array.from({ length: 60000 }, (_, i) => ({ i, s: String(i * i) })));
  const packed = zlib.gzipSync(text);
  console.log(fib(34), sieve(2000000), crypto.createHash("sha256").update(text).digest("hex"));
  console.log(zlib.gunzipSync(packed).length === text.length, text.match(/"s":"\d*9"/g).length);
  const worker = new Worker(__filename);
  worker.on("message", (m) => {
    console.log("worker", m);
    setTimeout(() => console.log("later"), 100);
  });
} else {
  parentPort.postMessage(sieve(1000000));
}

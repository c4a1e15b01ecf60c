// Serves folders on loopback and opens a page in a headless Chromium: for tests whose consumer is a web page.

import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createRequire } from 'node:module';

const modules = createRequire(path.join(process.env.CONSUMERS, 'npm/package.json'));
const puppeteer = (await import(modules.resolve('puppeteer-core'))).default;

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
                '.json': 'application/json', '.svg': 'image/svg+xml' };

// roots: { '/name/': folder or file }. Returns { url, close }.
export async function serve(roots) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const root = Object.keys(roots).filter((prefix) => name.startsWith(prefix)).sort((a, b) => b.length - a.length)[0];
    const file = root && path.join(roots[root], name.slice(root.length));
    if (!file || !fs.existsSync(file) || !fs.statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    fs.createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// Runs work(page) in a separate browser. An error that the page reports (isError) ends the test.
export async function browse(work, isError = () => true) {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM, headless: 'shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    const result = await work(page);
    if (errors.some(isError)) throw new Error(errors.join('\n'));
    return result;
  } finally {
    await browser.close();
  }
}

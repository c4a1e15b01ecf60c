// speedscope.mjs FILE FUNCTION: checks the file against speedscope's schema, opens it in speedscope, waits until the
// page shows this function and prints what it shows as JSON: { rows: [[total, self, function]] }.

import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { browse, serve } from './browser.mjs';

const modules = createRequire(path.join(process.env.CONSUMERS, 'npm/package.json'));
const Ajv = modules('ajv').default;
const release = path.join(process.env.CONSUMERS, 'npm/node_modules/speedscope/dist/release');
const [file, wanted] = process.argv.slice(2);

const validate = new Ajv({ strict: false }).compile(
  JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'))));
if (!validate(JSON.parse(fs.readFileSync(file)))) {
  console.error(JSON.stringify(validate.errors, null, 1));
  process.exit(1);
}

const server = await serve({ '/app/': release, '/profile/': path.dirname(file) });
const seen = await browse(async (page) => {
  await page.goto(`${server.url}/app/index.html#profileURL=${server.url}/profile/${path.basename(file)}`);
  await page.waitForFunction(() => /exported/.test(document.title),
                             { timeout: 30000 });
  await page.keyboard.press('3');  // the table of functions
  const shown = () => page.$$eval('table tr', (all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
  // The page draws its table again when it learns how much room it has.
  let rows = [];
  for (const until = Date.now() + 30000; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 50))) {
    rows = await shown();
    if (rows.some((row) => row.length === 3 && row[2].trim() === wanted)) break;
  }
  return { rows: rows.filter((row) => row.length === 3) };
});
console.log(JSON.stringify(seen));
server.close();

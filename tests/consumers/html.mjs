// html.mjs FILE [FOLDER]: opens an html export in a browser without network, uses it, and prints what it shows as JSON.
// Screenshots go into FOLDER.

import path from 'node:path';
import { browse } from './browser.mjs';

const [file, folder] = process.argv.slice(2);

const seen = await browse(async (page) => {
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`file://${path.resolve(file)}`);
  const shot = (name) => folder && page.screenshot({ path: path.join(folder, `${name}.png`) });
  const frames = () => page.$$eval('.frame', (all) => all.map((frame) => ({
    title: frame.title, label: frame.getAttribute('aria-label'), role: frame.getAttribute('role'), width: frame.offsetWidth,
    matches: frame.classList.contains('match') })));
  const value = (id) => page.$eval(`#${id}`, (element) => element.textContent);
  const result = { title: await page.title(), about: await value('about') };
  const options = (id) => page.$$eval(`#${id} option`, (all) => all.map((option) => option.textContent));
  result.metrics = await options('metric');
  result.threads = await options('thread');
  result.whole = await frames();
  await shot('light');

  await page.select('#metric', '1');
  result.second_metric = await frames();
  await page.select('#metric', '0');
  await page.select('#thread', '1');
  result.second_thread = await frames();
  await page.select('#thread', '-1');

  await page.type('#search', 'mix');
  result.found = await value('found');
  result.searched = await frames();
  await page.keyboard.press('Escape');

  // By keyboard: from the root to the entry point and on, zoom, and out again.
  await page.focus('.frame[tabindex="0"]');
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  result.focused = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  result.zoomed = await frames();
  await page.keyboard.press('d');
  await page.click('#list summary');
  await page.waitForSelector('#functions tr');  // the page fills it when it hears that the list was opened
  await shot('dark');
  result.functions = await page.$$eval('#functions tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  await page.keyboard.press('Escape');
  await page.click('#reset');
  result.after = (await frames()).length;
  result.requests = requests.filter((url) => !url.startsWith('file:'));
  return result;
});
console.log(JSON.stringify(seen));

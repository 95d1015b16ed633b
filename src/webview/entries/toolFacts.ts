// What an opened tool call shows below its content: the places in files that it touched, and its raw input and output.

import { revealControls } from '../../base/revealControls';
import { button, el, icon, iconButton, setAttributes } from '../dom';
import { strings } from '../strings';
import type { EntryContext } from './entryView';
import type { ToolItem } from './toolWords';

const MOST_LOCATIONS = 40;
const LONGEST_RAW = 20_000;

/** @param onlyInput nothing but the input, for a question that has nothing else to show. @returns undefined where there is nothing to show */
export function createToolFacts(item: ToolItem, onlyInput: boolean, context: EntryContext): HTMLElement | undefined {
  const facts = el('div', 'tool-facts');
  if (item.locations.length > 0) {
    const list = setAttributes(el('div', 'locations'), { role: 'list' });
    for (const { path, line, label } of item.locations.slice(0, MOST_LOCATIONS)) {
      const text = revealControls(line === undefined ? label : `${label}:${line}`);
      const open = button('chip location', '', () =>
        context.post({ type: 'openLocation', path, ...(line === undefined ? {} : { line }) }),
      );
      open.append(icon('go-to-file'), el('span', 'cut', text));
      setAttributes(open, { title: revealControls(path), 'aria-label': strings.openLocation(text) });
      list.append(setAttributes(el('div', '', open), { role: 'listitem' }));
    }
    const left = item.locations.length - MOST_LOCATIONS;
    if (left > 0) list.append(el('span', 'dim', strings.moreFiles(left)));
    facts.append(list);
  }
  if (item.rawInput !== undefined) facts.append(createRaw(strings.rawInput, item.rawInput, context));
  if (item.rawOutput !== undefined && !onlyInput) facts.append(createRaw(strings.rawOutput, item.rawOutput, context));
  if (item.hasRaw && item.rawInput === undefined && item.rawOutput === undefined) {
    facts.append(el('div', 'dim', strings.loadingRaw));
  }
  return facts.childElementCount > 0 ? facts : undefined;
}

function createRaw(label: string, json: string, context: EntryContext): HTMLElement {
  const shown = json.length > LONGEST_RAW ? `${json.slice(0, LONGEST_RAW)}\n…` : json;
  const copy = iconButton('copy', strings.copy, () => context.copy(json));
  return el(
    'div',
    'raw',
    el('div', 'raw-head dim', label, copy),
    setAttributes(el('pre', 'plain', revealControls(shown)), { tabindex: '0', dir: 'ltr' }),
  );
}

// The details of an expanded tool call below its content: locations, raw input and raw output.
import { revealControls } from '../../base/revealControls';
import { button, el, icon, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';
import type { EntryContext } from './entryView';
import { createFold } from './fold';
import type { ToolItem } from './toolLabel';

const MOST_LOCATIONS = 40;

export function createToolFacts(item: ToolItem, context: EntryContext): HTMLElement | undefined {
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
  const isOpen = item.content.length === 0;
  if (item.rawInput !== undefined) facts.append(createFold(strings.rawInput, item.rawInput, context, isOpen));
  if (item.rawOutput !== undefined) facts.append(createFold(strings.rawOutput, item.rawOutput, context, isOpen));
  if (item.hasRaw && item.rawInput === undefined && item.rawOutput === undefined) {
    facts.append(el('div', 'dim', strings.loadingRaw));
  }
  return facts.childElementCount > 0 ? facts : undefined;
}

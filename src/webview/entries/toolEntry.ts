// A tool call: one expandable line with the diff, the end of the output, or the request.

import { revealControls } from '../../base/revealControls';
import type { PermissionView, ToolContentView } from '../../panel/contract';
import { button, el, icon, iconButton, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { isExpanded, post, setExpanded } from '../host/host';
import { createAskedText, SHORT } from '../output/askedText';
import { splitPath } from '../text/format';
import { strings } from '../text/strings';
import { createArticle, type EntryFactory, type EntryView, markLate } from './entryView';
import { createFold } from './fold';
import { createPermissionCard, type PermissionCard, plain } from './permissionCard';
import { createToolContent, type ToolContent } from './toolContent';
import { type ToolItem, toolLabel } from './toolLabel';

const ICONS: Readonly<Record<string, IconName>> = {
  pending: 'circle-large-outline',
  in_progress: 'loading',
  completed: 'check',
  failed: 'error',
  cancelled: 'circle-slash',
  paused: 'debug-pause',
};

const MAX_LINE_TITLE = 48;
const MAX_LOCATIONS = 40;

export const createToolEntry: EntryFactory = (stored, index, context) => {
  const element = createArticle(stored.item, strings.verbs.other);
  const status = el('span', 'status');
  const verb = el('b', 'verb');
  const object = el('span', 'object');
  const lastText = el('span', 'dim cut last-line');
  const result = el('span', 'dim result');
  const time = el('span', 'dim time');
  const row = setAttributes(el('button', 'row', status, verb, object, el('span', 'grow'), lastText, result, time), {
    type: 'button',
  });
  const openDiff = iconButton('diff', strings.openDiff, () => {
    const content = tool().content.findIndex(({ type }) => type === 'diff');
    post({ type: 'openDiff', index, content });
  });
  openDiff.classList.add('open-diff');
  const stop = iconButton('debug-stop', strings.stop, () => {
    const { stop: target } = tool();
    if (target) post({ type: 'stopOne', ...target });
  });
  const line = el('div', 'tool-line', row, openDiff, stop);
  for (const type of ['pointerenter', 'focusin']) line.addEventListener(type, offerChanges);
  const body = el('div', 'tool-content');
  const box = el('div', 'box', line, body);
  element.append(box);

  let contents: (ToolContent & { readonly view: ToolContentView })[] = [];
  let drawnAs = '';
  let facts: HTMLElement | undefined;
  let cards: PermissionCard[] = [];
  let asking: readonly PermissionView[] = [];
  let raw: Pick<ToolItem, 'rawInput' | 'rawOutput'> = {};
  let rawAskedAt: string | undefined;
  let isOutdated = true;
  let whole: HTMLElement | undefined;
  let changesLink: HTMLElement | undefined;

  const tool = (): ToolItem => stored.item as ToolItem;
  const isOpen = (): boolean => isExpanded(stored.item.id) ?? false;

  const view: EntryView = {
    element,
    update() {
      markLate(element, stored.item);
      isOutdated = true;
      context.invalidate(view);
    },
    render(deadline) {
      if (isOutdated) drawBody();
      return contents.filter(({ markdown }) => markdown && !markdown.render(deadline)).length === 0;
    },
    drawWhole: () => contents.filter(({ markdown }) => markdown?.drawWhole()).length > 0,
    dispose: () => disposeTexts(contents),
    setPermissions(permissions) {
      if (areSameRequests(asking, permissions)) return;
      const hadFocus = cards.some((card) => card.element.contains(document.activeElement));
      asking = permissions;
      drawBody();
      if (hadFocus && permissions.length === 0) element.focus({ preventScroll: true });
    },
    toggle() {
      context.unpin();
      setExpanded(stored.item.id, !isOpen());
      drawBody();
    },
  };
  row.addEventListener('click', () => view.toggle?.());

  function offerChanges(): void {
    const { content, turnId, status } = tool();
    const hasDiff = content.some(({ type }) => type === 'diff');
    const isThere = hasDiff && turnId !== undefined && status === 'completed' && context.hasChanges(turnId, index);
    if (changesLink) changesLink.hidden = !isThere;
    if (changesLink || !isThere) return;
    changesLink = iconButton('list-unordered', strings.changes.showInChanges, showChange);
    changesLink.classList.add('changes-link');
    openDiff.before(changesLink);
  }

  function showChange(): void {
    const { content, turnId } = tool();
    const written = content.find((part) => part.type === 'diff');
    if (written && turnId !== undefined) context.revealChange(turnId, written.diff.path, index);
  }

  const contentContext = { ...context, invalidate: () => context.invalidate(view) };

  function drawLine(): void {
    const item = tool();
    const words = toolLabel(item);
    const waits = asking.length > 0;
    element.dataset.toolStatus = item.status;
    element.dataset.toolKind = item.toolKind;
    setAttributes(element, { 'aria-label': [words.verb, words.object, strings.toolStatus[item.status]].join(' ') });
    const statusText = waits ? strings.asksPermission : strings.toolStatus[item.status];
    status.replaceChildren(icon(waits ? 'question' : (ICONS[item.status] ?? 'circle-large-outline'), statusText));
    status.title = statusText;
    verb.textContent = revealControls(words.verb);
    const shown = revealControls(words.object);
    const [folder, name] = words.literal && !shown.includes(' ') ? splitPath(shown) : ['', shown];
    object.className = words.literal ? 'object mono' : 'object';
    object.title = revealControls(item.title);
    object.replaceChildren(
      ...(folder ? [el('span', 'cut', folder), el('span', 'name', name)] : [el('span', 'cut', name)]),
    );
    lastText.textContent = words.lastText;
    lastText.hidden = words.lastText === '';
    result.textContent = words.facts.join(' · ');
    result.title = result.textContent;
    result.hidden = words.facts.length === 0;
    time.textContent = words.time;
    time.hidden = words.time === '';
    openDiff.hidden = !item.content.some(({ type }) => type === 'diff');
    stop.hidden = item.stop === undefined;
    setAttributes(stop, { 'aria-label': strings.stopOne(shown || words.verb) });
  }

  function drawBody(): void {
    isOutdated = false;
    const item = tool();
    const expanded = isOpen();
    const waits = asking.length > 0;
    row.setAttribute('aria-expanded', String(expanded));
    element.classList.toggle('expanded', expanded);
    element.classList.toggle('asking', waits);
    drawContents(item, expanded || waits, waits);
    drawFacts(item, expanded);
    drawCards();
    drawLine();
    element.classList.toggle('has-body', body.childElementCount > 0 || facts !== undefined || waits);
  }

  /** Keeps the terminal if output was only appended. */
  function drawContents(item: ToolItem, expanded: boolean, asked: boolean): void {
    const drawAs = `${expanded} ${asked}`;
    const redraw = drawnAs !== drawAs;
    drawnAs = drawAs;
    const next = item.content.map((content, position) => {
      const previous = redraw ? undefined : contents[position];
      if (previous && content.type === 'terminal' && previous.view.type === 'terminal' && previous.terminal) {
        const same =
          previous.view.terminal.id === content.terminal.id &&
          previous.view.terminal.command === content.terminal.command;
        if (same) {
          if (previous.view !== content) previous.terminal.update(content.terminal);
          return { ...previous, view: content };
        }
      }
      if (previous && JSON.stringify(previous.view) === JSON.stringify(content)) return { ...previous, view: content };
      return {
        view: content,
        ...createToolContent(item, content, { index, position, expanded, asked }, contentContext),
      };
    });
    whole?.remove();
    const nodes = next.map(({ node }) => node).filter((node) => !node.hidden);
    const unchanged = nodes.length === body.children.length && nodes.every((node, at) => body.children[at] === node);
    if (!unchanged) body.replaceChildren(...nodes);
    disposeTexts(contents.filter(({ markdown }) => !next.some((part) => part.markdown === markdown)));
    contents = next;
    if (contents.some(({ markdown }) => markdown)) context.invalidate(view);
    drawTitle(item, expanded, asked);
  }

  function drawTitle(item: ToolItem, expanded: boolean, asked: boolean): void {
    whole?.remove();
    whole = undefined;
    const text = item.title.trim();
    if (!expanded || (text.length <= MAX_LINE_TITLE && !text.includes('\n'))) return;
    if (asked && asking.some(({ commands = [] }) => commands.some(({ line }) => line === plain(text)))) return;
    whole = asked
      ? createAskedText('whole-title', text, SHORT)
      : setAttributes(el('pre', 'plain whole-title', revealControls(text)), { tabindex: '0', dir: 'ltr' });
    body.prepend(whole);
  }

  function drawFacts(item: ToolItem, expanded: boolean): void {
    facts?.remove();
    facts = undefined;
    if (!expanded) return;
    // Later updates omit the raw input and output: keep them, and request them again when the call
    // has advanced.
    if (item.rawInput !== undefined || item.rawOutput !== undefined) raw = item;
    else if (item.hasRaw && rawAskedAt !== item.status) {
      rawAskedAt = item.status;
      post({ type: 'details', index });
    }
    facts = createToolFacts({ ...item, rawInput: raw.rawInput, rawOutput: raw.rawOutput }, index);
    if (facts) box.append(facts);
  }

  function drawCards(): void {
    const focused = cards.find((card) => card.element.contains(document.activeElement))?.permission.id;
    const drawn = cards.map(({ permission }) => permission);
    if (!areSameRequests(drawn, asking)) {
      const old = cards;
      cards = asking.map((permission, position) =>
        createPermissionCard(permission, position === 0 ? [body] : [], tool().title, context),
      );
      if (cards.length === 0) box.append(body);
      else box.append(...cards.map((card) => card.element));
      for (const card of old) card.element.remove();
      cards.find(({ permission }) => permission.id === focused)?.element.focus({ preventScroll: true });
    }
    if (!facts) return;
    if (cards[0]) body.after(facts);
    else box.append(facts);
  }

  drawBody();
  return view;
};

function disposeTexts(contents: readonly ToolContent[]): void {
  for (const { markdown } of contents) markdown?.dispose();
}

function areSameRequests(a: readonly PermissionView[], b: readonly PermissionView[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function createToolFacts(item: ToolItem, index: number): HTMLElement | undefined {
  const facts = el('div', 'tool-facts');
  const { details } = toolLabel(item);
  if (details.length > 0) {
    const line = el('div', 'dim tool-details', el('span', '', details.join(' · ')));
    const rule = item.decision && 'rule' in item.decision ? item.decision.rule : undefined;
    if (rule !== undefined) {
      const label = strings.showRule(revealControls(rule));
      line.append(iconButton('shield', label, () => post({ type: 'showRule', index })));
    }
    facts.append(line);
  }
  if (item.locations.length > 0) {
    const list = setAttributes(el('div', 'locations'), { role: 'list' });
    for (const { path, line, label } of item.locations.slice(0, MAX_LOCATIONS)) {
      const text = revealControls(line === undefined ? label : `${label}:${line}`);
      const open = button('chip location', '', () => post({ type: 'openLocation', path, line }));
      open.append(icon('go-to-file'), el('span', 'cut', text));
      setAttributes(open, { title: revealControls(path), 'aria-label': strings.openLocation(text) });
      list.append(setAttributes(el('div', '', open), { role: 'listitem' }));
    }
    const left = item.locations.length - MAX_LOCATIONS;
    if (left > 0) list.append(el('span', 'dim', strings.moreFiles(left)));
    facts.append(list);
  }
  const isOpen = item.content.length === 0;
  if (item.rawInput !== undefined) facts.append(createFold(strings.rawInput, item.rawInput, isOpen));
  if (item.rawOutput !== undefined) facts.append(createFold(strings.rawOutput, item.rawOutput, isOpen));
  if (item.hasRaw && item.rawInput === undefined && item.rawOutput === undefined) {
    facts.append(el('div', 'dim', strings.loadingRaw));
  }
  return facts.childElementCount > 0 ? facts : undefined;
}

// Pages of the agents editor: a sequence of VS Code lists, each with a Back button.
import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { BareContext } from '../../client/connection/bareAgent';
import type { AgentCatalog } from '../config/agentCatalog';
import type { RemoteHeaders } from '../config/remoteHeaders';
import type { SavedKeys } from '../config/savedKeys';
import type { Reports } from '../editor/readOnlyTexts';
import type { AgentRegistry } from '../registry/agentRegistry';
import { type ChoiceRow, choiceFrom, List, type ListRow } from '../ui/input';

/** Shows the page. @returns the next one; undefined if the list was closed */
export type Page = () => Promise<Page | undefined>;

export interface EditorServices {
  readonly catalog: AgentCatalog;
  readonly keys: SavedKeys;
  readonly remote: RemoteHeaders;
  readonly registry: AgentRegistry;
  readonly bare: (agent: AgentDefinition) => Promise<BareContext>;
  readonly reports: Pick<Reports, 'show'>;
  readonly signInChanged: (agent: string) => void;
  readonly accountOf: (agent: string) => string | undefined;
}

export interface PageRow extends ListRow {
  readonly go?: Page;
}

interface PageContent {
  readonly title: string;
  readonly placeholder: string;
  readonly rows: () => readonly PageRow[];
  readonly back?: Page | undefined;
  readonly load?: (signal: AbortSignal) => Promise<unknown>;
}

/** Adds an entry to the user's settings. Discards keys of an earlier agent with this id. */
export async function addEntry(
  id: string,
  entry: Readonly<Record<string, unknown>>,
  { catalog, keys, registry }: EditorServices,
): Promise<void> {
  await registry.entries.set(id, entry);
  const agent = catalog.find(id);
  if (agent) await keys.forget(agent);
}

export function after(run: () => unknown, next?: Page): Page {
  return async () => {
    await run();
    return next;
  };
}

export async function showPages(first: Page): Promise<void> {
  for (let page: Page | undefined = first; page; ) page = await page();
}

export async function showPage({ title, placeholder, rows, back, load }: PageContent): Promise<Page | undefined> {
  const list = new List<ChoiceRow>(placeholder, title);
  const closing = new AbortController();
  let next: Page | undefined;
  const draw = (): void => {
    const backButton = { icon: 'arrow-left', tooltip: l10n.t('Back'), isBack: true } as const;
    const shown = rows().map(({ go, ...row }): ChoiceRow => ({ ...row, choose: go ? chosen(go) : undefined }));
    list.draw(shown, back ? [{ ...backButton, run: chosen(async () => back) }] : []);
  };
  const chosen = (go: Page) => async (): Promise<void> => {
    next = await go();
  };
  list.ignoreFocusOut = true;
  draw();
  const choice = choiceFrom(list);
  const loading = load?.(closing.signal).finally(() => {
    if (closing.signal.aborted) return;
    list.busy = false;
    draw();
  });
  if (loading) list.busy = true;
  loading?.catch(() => {});
  const run = await choice;
  closing.abort();
  await run?.();
  return next;
}

export function section(label: string, rows: readonly (PageRow | undefined)[]): readonly PageRow[] {
  const present = rows.filter((row) => row !== undefined);
  return present.length === 0 ? [] : [{ label, separates: true }, ...present];
}

export function withIcon(icon: string, text: string): readonly [{ readonly icon: string }, string] {
  return [{ icon }, ` ${text}`];
}

// Stored sessions as rows of the list: newest first in pages, or matching the search.

import { basename } from 'node:path';
import { l10n } from 'vscode';
import { Configured } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { formatTime } from '../../base/localFormat';
import type { SessionCopy } from '../../client/sharing/sessionRemains';
import type { SearchResult } from '../../store/search/search';
import type { SessionRecord } from '../../store/sessions/records';
import type { LabelPart } from '../ui/inertText';
import type { Archive } from './archive';
import { action, confirmDelete, moreItem, type SessionItem, separator } from './sessionItems';
import { askTitle, isForeign, short } from './sessionLabels';

const PAGE = 40;
/** Sessions to read per page if most belong to other folders. */
const MAX_READ = 400;
const MAX_RESULTS = 50;

interface KeptSessionsServices {
  readonly archive: Archive;
  readonly copies: SessionCopies;
  readonly agentName: (id: string) => string;
  readonly isOpen: (key: string) => boolean;
  readonly roots: readonly string[];
  readonly open: (session: SessionRecord, seq?: number) => Promise<unknown>;
  readonly deleted: (session: SessionRecord) => void;
}

export interface SessionCopies {
  of(key: string): Promise<readonly SessionCopy[]>;
  remove(key: string, copies: readonly SessionCopy[]): Promise<void>;
}

export class KeptSessions extends Configured<KeptSessionsServices> {
  #sessions: SessionRecord[] = [];
  #everywhere = false;
  #cursor: SessionRecord | undefined;
  #hasMore = true;
  #problem: string | undefined;
  #query = '';
  #results: readonly SearchResult[] = [];
  #searchAbort = new AbortController();

  load(everywhere: boolean): void {
    this.#everywhere = everywhere;
    this.#sessions = [];
    this.#cursor = undefined;
    this.#hasMore = true;
    this.#problem = undefined;
    this.#readPage();
  }

  /** Searches all sessions. A new search ends the previous one; an empty text only ends it. */
  async search(text: string, onFound: () => void): Promise<void> {
    this.stop();
    const { signal } = this.#searchAbort;
    this.#query = text.trim();
    this.#results = [];
    if (this.#query === '') {
      onFound();
      return;
    }
    try {
      for await (const found of this.options.archive.search(text, MAX_RESULTS, signal)) {
        if (signal.aborted) return;
        this.#results = found;
        onFound();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#problem = messageOf(error);
      onFound();
    }
  }

  stop(): void {
    this.#searchAbort.abort();
    this.#searchAbort = new AbortController();
  }

  expect(key: string | undefined): void {
    this.options.archive.expect(key);
  }

  get foundKeys(): ReadonlySet<string> {
    return new Set(this.#results.map(({ session }) => session.key));
  }

  has(agent: string, sessionId: string): boolean {
    return this.#sessions.some(({ agentId, agentSessionId }) => agentId === agent && agentSessionId === sessionId);
  }

  items(): SessionItem[] {
    const found = this.foundKeys;
    const earlier = this.#sessions.filter(({ key }) => !found.has(key) && !this.options.isOpen(key));
    const items = [
      ...this.#results.map(({ session, snippet, message }) => ({
        ...this.#item(session, snippet.map(({ text }) => text).join('')),
        run: () => this.options.open(session, message?.seq),
        // VS Code would filter by letters.
        alwaysShow: true,
      })),
      ...earlier.map((session) => this.#item(session)),
    ];
    if (this.#problem !== undefined)
      items.push({ label: [{ icon: 'warning' }, ` ${this.#problem}`], alwaysShow: true });
    else if (this.#query === '' && this.#hasMore) items.push(moreItem(async () => this.#readPage()));
    return items.length === 0 ? [] : [separator(l10n.t('Earlier')), ...items];
  }

  #readPage(): void {
    const { archive, roots } = this.options;
    const wanted = this.#sessions.length + PAGE;
    try {
      while (this.#hasMore && this.#sessions.length < wanted) {
        const limit = this.#everywhere ? PAGE : MAX_READ;
        const before = this.#cursor;
        const page = archive.marks.list({ limit, archived: false, before });
        this.#hasMore = page.length > 0;
        for (const session of page) {
          if (this.#sessions.length >= wanted) break;
          this.#cursor = session;
          if (this.#everywhere || !isForeign(session.cwd, roots)) this.#sessions.push(session);
        }
      }
    } catch (error) {
      this.#hasMore = false;
      this.#problem = messageOf(error);
    }
  }

  #item(session: SessionRecord, snippet?: string): SessionItem {
    const { archive, agentName, roots, isOpen, open } = this.options;
    const { key, agentId, cwd, updatedAt } = session;
    const title = nameOf(session);
    const isHeld = archive.isHeld(key);
    const words: LabelPart[] = [
      `${short(agentName(agentId))} · `,
      ...(isForeign(cwd, roots) ? [{ icon: 'folder-opened' }, ` ${cwd}`] : [basename(cwd)]),
      ` · ${formatTime(updatedAt)}`,
      ...(isHeld
        ? [' · ', { icon: 'lock' }, ` ${l10n.t('in another window')}`]
        : isOpen(key)
          ? [` · ${l10n.t('in this window')}`]
          : []),
    ];
    return {
      label: short(title),
      description: words,
      detail: snippet ? short(snippet) : undefined,
      run: () => open(session),
      recalls: !isOpen(key) ? key : undefined,
      buttons: !isHeld && !isOpen(key) ? this.#buttons(session, title) : undefined,
    };
  }

  #buttons(session: SessionRecord, title: string): ReturnType<typeof action>[] {
    const { archive, copies, deleted } = this.options;
    const { key } = session;
    return [
      action('edit', l10n.t('Rename'), async () => {
        const name = (await askTitle(title))?.trim();
        if (!name) return;
        archive.rename(key, name);
        await this.#reload();
      }),
      action('trash', l10n.t('Delete'), async () => {
        const found = await copies.of(key);
        const choice = await confirmDelete(title, found.length);
        if (!choice) return;
        archive.delete(key);
        await this.#reload();
        if (choice.copies) await copies.remove(key, found);
        deleted(session);
      }),
    ];
  }

  async #reload(): Promise<void> {
    this.load(this.#everywhere);
    await this.search(this.#query, () => {});
  }
}

export function nameOf({ title, preview }: SessionRecord): string {
  return title ?? preview ?? l10n.t('Empty session');
}

// Loads missing messages and parts: on retry, into a running answer, and in the editor.

import { window, workspace } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { placeOf } from '../../client/sharing/historyEvents';
import { readLivePart, retryGap, retryGaps } from '../../client/sharing/historyRetries';
import type { Guard } from '../../distributed/fetch/guard';
import type { Resolver } from '../../distributed/fetch/resolver';
import { gapSentence } from '../../distributed/model/gap';
import { originOf } from '../../distributed/model/resourceUrl';
import { requireTrust } from './requireTrust';
import type { ResourceAccess } from './resourceAccess';
import type { SharedSessions } from './sharedSessions';

export interface MissingMessagesOptions {
  readonly sessions: SharedSessions;
  readonly access: ResourceAccess;
  readonly guard: Guard;
  readonly resolver: () => Promise<Resolver>;
  readonly ended: AbortSignal;
  readonly log: Log;
}

/** Limits of a text that is opened, in milliseconds and bytes. */
const OPEN_MS = 30_000;
const MAX_PART_BYTES = 5 * 1024 * 1024;

export class MissingMessages {
  readonly #options: MissingMessagesOptions;

  constructor(options: MissingMessagesOptions) {
    this.#options = options;
  }

  readonly retry = async (conversation: Conversation, gapId: string): Promise<void> => {
    requireTrust();
    const url = await this.#urlAt(conversation, gapId);
    if (url === undefined)
      throw new ParleyError('no-such-gap', localizable('The location of this message is unknown.'));
    const { consent } = this.#options.guard;
    const origin = new URL(url).origin;
    const wasAllowed = consent.isAllowed(origin);
    consent.forgetRefusals();
    const resolver = await this.#options.resolver();
    let unlocked: string | undefined;
    const unlock = async (locked: string, signal: AbortSignal): Promise<boolean> => {
      const isGiven = await this.#options.access.askToken(new URL(locked).origin, signal);
      if (isGiven) unlocked = locked;
      return isGiven;
    };
    const place = { place: conversation, resolver, now: Date.now };
    const isThere = await retryGap(gapId, url, { ...place, unlock }, this.#options.ended);
    const isOpened = !wasAllowed && consent.isAllowed(origin);
    if (!isOpened && !(isThere && unlocked === url)) return;
    // The answer, or the token, is for all messages of that server.
    const others = (await this.#missing(conversation)).filter((other) => originOf(other.url) === origin);
    await retryGaps(others, place, this.#options.ended);
  };

  readonly retryAll = async (conversation: Conversation): Promise<void> => {
    requireTrust();
    this.#options.guard.consent.forgetRefusals();
    const place = { place: conversation, resolver: await this.#options.resolver(), now: Date.now };
    await retryGaps(await this.#missing(conversation), place, this.#options.ended);
  };

  async #missing({ key, model }: Conversation): Promise<readonly { index: number; url: string }[]> {
    const found: { index: number; url: string }[] = [];
    for (const entry of [...model.state.entries]) {
      if (entry.kind !== 'gap' || entry.state !== 'retryable' || entry.remote) continue;
      const where = placeOf(entry.gapId);
      if (!where || where.part !== undefined) continue;
      const url = await this.#options.sessions.find(key)?.messages.urlAt(where.index);
      if (url !== undefined) found.push({ index: where.index, url });
    }
    return found;
  }

  /** Reads a short text behind a gap of a running answer into its place. */
  async readPart(key: string, gapId: string): Promise<void> {
    const conversation = this.#options.sessions.find(key)?.conversation;
    if (!workspace.isTrusted || !conversation) return;
    const note: Conversation['note'] = (events) => {
      if (this.#options.sessions.find(key)?.conversation === conversation) conversation.note(events);
    };
    try {
      const options = {
        place: { model: conversation.model, note },
        resolver: await this.#options.resolver(),
        now: Date.now,
      };
      await readLivePart(gapId, options, this.#options.ended);
    } catch (error) {
      this.#options.log.warn(`A part of an answer was not read: ${messageOf(error)}`);
    }
  }

  /**
   * Shows a text of a server that needs the user's token.
   * @returns false if the address is none of those, or no text
   * @throws ParleyError `location-not-found`
   */
  readonly openPart = async (url: string): Promise<boolean> => {
    const origin = originOf(url);
    if (!workspace.isTrusted || origin === undefined) return false;
    if ((await this.#options.access.credentials(origin)) === undefined) return false;
    const resolver = await this.#options.resolver();
    const part = { content_type: 'text/plain', content_encoding: 'plain', content_url: url } as const;
    const signal = AbortSignal.any([this.#options.ended, AbortSignal.timeout(OPEN_MS)]);
    const found = await resolver.resolvePart(part, { maxBytes: MAX_PART_BYTES, asks: true, isNew: true }, signal);
    if (found.kind !== 'content') throw new ParleyError('location-not-found', gapSentence(found.reason, found.host));
    const content = Buffer.from(found.bytes).toString('utf8');
    if (content.includes('\0')) return false;
    await window.showTextDocument(await workspace.openTextDocument({ content }), { preview: true });
    return true;
  };

  async #urlAt(conversation: Conversation, gapId: string): Promise<string | undefined> {
    const gap = conversation.model.state.entries.find((entry) => entry.kind === 'gap' && entry.gapId === gapId);
    if (gap?.kind === 'gap' && gap.remote) return gap.remote.url;
    const where = placeOf(gapId);
    return where && (await this.#options.sessions.of(conversation).messages.urlAt(where.index));
  }
}

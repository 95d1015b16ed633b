// Parts of messages whose content lies behind an address of its own (`content_url`): which parts
// those are, the gaps that stand in their places, and the parts once their bytes are here.
import type { GapState, SessionEvent } from '../../session/events/event';
import type { OwnText } from '../../session/events/ownText';
import type { Gap } from '../model/gap';
import type { MessagePart } from '../model/model';
import { isTextual, partBlock } from './runParts';

/** A citation or a step with an address is a link, not content. */
export function isRemote(part: MessagePart): part is MessagePart & { readonly content_url: string } {
  return part.content_url !== undefined && part.metadata === undefined;
}

/** Returns whether that content is text. */
export function isRemoteText(part: MessagePart): boolean {
  return isRemote(part) && isTextual(part.content_type);
}

export function withBytes(part: MessagePart, bytes: Uint8Array): MessagePart {
  const { content_url: _url, ...rest } = part;
  if (isTextual(part.content_type)) {
    return { ...rest, content: new TextDecoder().decode(bytes), content_encoding: 'plain' };
  }
  return { ...rest, content: Buffer.from(bytes).toString('base64'), content_encoding: 'base64' };
}

type GapEvent = Extract<SessionEvent, { type: 'gap' }>;

/** The id of the gap of one part. */
export function partGapId(messageGapId: string, part: number): string {
  return `${messageGapId}.${part}`;
}

/** The gap of a part in an answer in progress, which has no address yet to find it by. */
export function livePart(part: MessagePart, gapId: string): GapEvent {
  const { name, content_url: url = '', content_type: mimeType } = part;
  return { ...unloadedPart(part, gapId), remote: { url, mimeType, name } };
}

export function unloadedPart(part: MessagePart, gapId: string): GapEvent {
  return gap(gapId, { code: 'part-unloaded', args: [nameOf(part), hostOf(part)] }, 'unloaded');
}

export function loadingPart(part: MessagePart, gapId: string): GapEvent {
  return gap(gapId, { code: 'part-loading', args: [nameOf(part), hostOf(part)] }, 'loading');
}

export function missingPart(part: MessagePart | undefined, gapId: string, why: Gap): GapEvent {
  const args = [part ? nameOf(part) : '', why.reason, why.host] as const;
  return gap(gapId, { code: 'part-missing', args }, why.retryable ? 'retryable' : 'final');
}

function gap(gapId: string, said: OwnText, state: GapState): GapEvent {
  return { type: 'gap', gapId, text: '', said, state };
}

function nameOf(part: MessagePart): string {
  const block = partBlock(part);
  const name = block?.type === 'resource_link' ? block.name : part.content_type;
  return `${name.slice(0, 200)} (${part.content_type.slice(0, 100)})`;
}

function hostOf({ content_url: url = '' }: MessagePart): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

// Codes for why a queue is paused or a message is not sent. Codes are stored;
// client/view/waitReasonLabels.ts makes the labels.
import { boundText, isLocalizable, type LocalizableText } from '../../base/localizable';

const MAX_DETAIL = 1000;

export type PauseCode =
  | 'by-user'
  | 'stopped'
  | 'start-stopped'
  | 'window-ended'
  | 'agent-ended'
  | 'agent-closed-input'
  | 'agent-asks'
  | 'agent-silent'
  | 'choices-not-set'
  | 'given-back'
  | 'taken-back'
  | 'session-lost'
  | 'session-not-opened'
  | 'turn-failed';

export type ItemCode = 'in-doubt' | 'refused' | 'taking-back' | 'not-given-back' | 'not-steered';

export type WaitReason<Code extends string = PauseCode | ItemCode> = Code | `${Code}: ${string}` | `${Code} {${string}`;

export function detailed<const Code extends PauseCode | ItemCode>(
  code: Code,
  detail: LocalizableText,
): WaitReason<Code> {
  if (typeof detail === 'string') return `${code}: ${detail}`;
  return `${code} ${JSON.stringify(boundText(detail, MAX_DETAIL))}` as `${Code} {${string}`;
}

export function readReason(reason: string): { readonly code: string; readonly detail: LocalizableText } | undefined {
  const [, code, plain = '', json] = /^([a-z-]+)(?:: ([\s\S]*)| (\{[\s\S]*\}))?$/.exec(reason) ?? [];
  if (code === undefined) return undefined;
  if (json === undefined) return { code, detail: plain };
  try {
    const detail: unknown = JSON.parse(json);
    return isLocalizable(detail) ? { code, detail } : undefined;
  } catch {
    return undefined;
  }
}

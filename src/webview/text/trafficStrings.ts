// Every text of the traffic inspector, a page of its own.
import './language';
import * as l10n from '@vscode/l10n';
import { formatNumber } from './format';

export const strings = {
  toolbar: l10n.t('Traffic'),
  pause: l10n.t('Pause'),
  resume: l10n.t('Resume'),
  clear: l10n.t('Clear'),
  exportRecording: l10n.t('Export recording…'),
  openRecording: l10n.t('Open recording…'),
  filters: l10n.t('Filter messages'),
  search: l10n.t('Search in messages'),
  allDirections: l10n.t('All directions'),
  allMethods: l10n.t('All methods'),
  allSessions: l10n.t('All sessions'),
  direction: {
    in: l10n.t('From agent'),
    out: l10n.t('To agent'),
    stderr: l10n.t('Error output'),
    noise: l10n.t('Not a message'),
  },
  errorsOnly: l10n.t('Errors only'),
  messages: l10n.t('Messages'),
  column: {
    time: l10n.t('Time'),
    direction: l10n.t('Direction'),
    method: l10n.t('Method'),
    id: l10n.t('ID'),
    latency: l10n.t('Latency'),
    size: l10n.t('Size'),
    session: l10n.t('Session'),
  },
  kind: {
    request: l10n.t('Request'),
    response: l10n.t('Response'),
    notification: l10n.t('Notification'),
    text: l10n.t('Text'),
  },
  error: l10n.t('Error'),
  noMethod: l10n.t('(no method)'),
  turns: l10n.t('Turns'),
  prompt: l10n.t('Prompt'),
  promptOf: (id: string) => l10n.t('Prompt {0}', id),
  ownTurn: l10n.t('No prompt'),
  mark: {
    sent: l10n.t('Sent'),
    receipt: l10n.t('Receipt'),
    echo: l10n.t('Echo'),
    output: l10n.t('First output'),
    barrier: 'turn_complete',
    answer: l10n.t('Response'),
    idle: l10n.t('Idle'),
    cancel: l10n.t('Cancel'),
    settled: l10n.t('Settled'),
  },
  markNote: {
    late: l10n.t('late'),
    foreign: l10n.t('foreign'),
    doubled: l10n.t('repeated'),
  },
  markNoteHint: {
    late: l10n.t('It came after the turn had settled.'),
    foreign: l10n.t('It belongs to another prompt or client.'),
    doubled: l10n.t('It came before, and has no effect.'),
  },
  byTime: l10n.t('Time has passed. No message shows this.'),
  moreMarks: (count: number) => l10n.t('{0} more', formatNumber(count)),
  count: (shown: number, all: number) =>
    shown === all
      ? l10n.t('{0} messages', formatNumber(all))
      : l10n.t('{0} of {1} messages', formatNumber(shown), formatNumber(all)),
  empty: l10n.t('No messages yet. Messages to and from agents appear here.'),
  noneMatches: l10n.t('No messages match the filter.'),
  content: l10n.t('Content'),
  selectOne: l10n.t('Select a message to see its content. Secrets are removed.'),
  loading: l10n.t('Loading…'),
  gone: l10n.t('This message is no longer kept.'),
  cut: (characters: number) => l10n.t('{0} more characters', formatNumber(characters)),
  copy: l10n.t('Copy'),
  toRequest: l10n.t('Go to request'),
  toResponse: l10n.t('Go to response'),
  ms: (ms: number) => (ms < 10_000 ? l10n.t('{0} ms', formatNumber(ms)) : l10n.t('{0} s', formatNumber(ms / 1000))),
  bytes: (bytes: number) =>
    bytes < 1000
      ? l10n.t('{0} B', formatNumber(bytes))
      : bytes < 1_000_000
        ? l10n.t('{0} kB', formatNumber(bytes / 1000))
        : l10n.t('{0} MB', formatNumber(bytes / 1_000_000)),
} as const;

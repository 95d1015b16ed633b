// What a scripted agent is told at its start: how it introduces itself and how it misbehaves. What happens in a turn is told by the prompt (plays.ts).

/** A capability put at a path of the result of `initialize`. */
export interface Advert {
  readonly path: readonly string[];
  /** Default `true`. */
  readonly value?: unknown;
  /** Whether a client has to read it as a yes (default). With false the agent takes every use of it as a violation. */
  readonly counts?: boolean;
}

export interface AgentScript {
  /** Lines for stderr at the start. */
  readonly stderr?: readonly string[];
  /** Exits with this code before it reads anything. */
  readonly exitAtStart?: number;
  /** Methods that are never answered. */
  readonly mute?: readonly string[];
  /** Lines on stdout that are no JSON-RPC: once at the start, or before each message (then also CRLF, blank lines and a BOM). */
  readonly noise?: 'before' | 'among';
  readonly protocolVersion?: number;
  /** Replaces what the agent says of itself in `agentCapabilities`. */
  readonly capabilities?: Record<string, unknown>;
  readonly ready?: Advert;
  readonly status?: Advert & {
    /** Default `live` for a session of this process and `not_found` for another one. */
    readonly answer?: 'live' | 'open' | 'saved' | 'not_found' | 'resource-error' | 'unknown-method' | 'nothing';
  };
  readonly turnComplete?: Partial<Advert> & {
    /** Its place against the response. `late` follows the response after `delayMs`. */
    readonly when: 'before' | 'after' | 'late' | 'never' | 'twice' | 'wrong-id' | 'no-id' | 'unadvertised';
    readonly delayMs?: number;
  };
  /** session/new answers -32000 until `authenticate` was called with one of these methods' ids. */
  readonly authMethods?: readonly { readonly id: string; readonly name: string; readonly type?: string }[];
  /** `authenticate` sends the user to a page first, and fails unless they agree. */
  readonly signInPage?: string;
  /** So many updates for the new session before the response that tells its id. */
  readonly early?: number;
  /** session/load is advertised and replays so many pairs of messages. */
  readonly history?: number;
  readonly modes?: unknown;
  readonly configOptions?: readonly Record<string, unknown>[];
  /**
   * What a cancel does to open permissions: `wait` for their answers (as the protocol says), `withdraw` them with `$/cancel_request` and end,
   * `end` without a word, or `ignore` the cancel and go on. Default `wait`.
   */
  readonly onCancel?: 'wait' | 'withdraw' | 'end' | 'ignore';
  /** Plays for prompts that read as a person would write them, by the whole text of the prompt; `*`: for all others. */
  readonly scenes?: Readonly<Record<string, string>>;
  /** Stays when stdin is closed. */
  readonly ignoreStdinEnd?: boolean;
  readonly ignoreSigterm?: boolean;
  /** Starts a child in the same process group that never ends by itself; its pid is in the log as `{ev: "child"}`. */
  readonly child?: boolean;
  /** Whether the child ignores SIGTERM as well. */
  readonly childIgnoresSigterm?: boolean;
  /** Whether the child keeps the agent's stderr open, so that the end of the agent does not close that pipe. */
  readonly childHoldsStderr?: boolean;
  /** Milliseconds for answers that a client owes after a cancel or a withdrawal. Default 5000. */
  readonly answerDeadlineMs?: number;
  /** False: what the client does wrong is only logged. Default: exit 9 with "VIOLATION …" on stderr. */
  readonly strict?: boolean;
}

const readyPlaces = {
  'ready-v2-place': ['capabilities', 'session', 'ready'],
  'ready-session': ['agentCapabilities', 'session', 'ready'],
  'ready-session-capabilities': ['agentCapabilities', 'sessionCapabilities', 'ready'],
  'ready-meta': ['agentCapabilities', '_meta', 'session/ready'],
} as const;

/** Scripts by name, for a command line or a test that needs nothing special. */
export const presets = {
  plain: {},
  proposals: {
    ready: { path: readyPlaces['ready-session'] },
    status: { path: ['agentCapabilities', 'sessionCapabilities', 'status'], value: {} },
    turnComplete: { when: 'before' },
  },
  'exit-at-once': { stderr: ['fatal: no model configured', 'run `agent setup` first'], exitAtStart: 1 },
  silent: { mute: ['initialize'] },
  version7: { protocolVersion: 7 },
  'noise-before': { noise: 'before' },
  'noise-among': { noise: 'among' },
  'needs-sign-in': { authMethods: [{ id: 'login', name: 'Log in' }] },
  early: { early: 35 },
  stubborn: { ignoreSigterm: true, ignoreStdinEnd: true, child: true, childIgnoresSigterm: true },
  'with-child': { child: true },
  'ready-v2-place': { ready: { path: readyPlaces['ready-v2-place'] } },
  'ready-session': { ready: { path: readyPlaces['ready-session'] } },
  'ready-session-capabilities': { ready: { path: readyPlaces['ready-session-capabilities'], value: {} } },
  'ready-meta': { ready: { path: readyPlaces['ready-meta'] } },
  'ready-false': { ready: { path: readyPlaces['ready-session'], value: false, counts: false } },
  'ready-string': { ready: { path: readyPlaces['ready-session'], value: 'yes', counts: false } },
  history: { history: 20 },
} as const satisfies Record<string, AgentScript>;

/** The script of a command line: the name of a preset, or JSON. @throws Error where it is neither */
export function readScript(text: string | undefined): AgentScript {
  if (text === undefined || text === '') return presets.plain;
  if (text.startsWith('{')) return JSON.parse(text) as AgentScript;
  if (Object.hasOwn(presets, text)) return presets[text as keyof typeof presets];
  throw new Error(`There is no preset "${text}"; there are ${Object.keys(presets).join(', ')}.`);
}

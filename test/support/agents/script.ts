// Start options of a scripted agent: how it introduces itself and how it misbehaves. The prompt
// decides what happens in a turn (plays.ts).

export interface Advert {
  readonly path: readonly string[];
  readonly value?: unknown;
  readonly counts?: boolean;
}

export interface SessionsScript {
  readonly store: string;
  readonly load?: boolean;
  /**
   * When the past is repeated for session/load: before its answer (default), after it, half and
   * half, in two bursts long after it, or for session/ready. The last two give the session the
   * title "repeated" at the end.
   */
  readonly replay?: 'before' | 'after' | 'both' | 'late' | 'ready';
  /** session/resume repeats the past before its answer, as it must not. */
  readonly resumeReplays?: boolean;
  readonly addsTools?: boolean;
  readonly states?: boolean;
  readonly worksOn?: boolean;
  readonly forkReplays?: boolean;
  readonly pageSize?: number;
  /** session/list with a folder is empty. */
  readonly findsNoFolder?: boolean;
  /** Only session/list has it. */
  readonly title?: string;
  readonly unknownCode?: number;
}

export interface AgentScript {
  readonly stderr?: readonly string[];
  readonly exitAtStart?: number;
  /** Methods that are never answered. */
  readonly mute?: readonly string[];
  /**
   * Lines on stdout that are no JSON-RPC: once at the start, or before each message (then also
   * CRLF, blank lines and a BOM).
   */
  readonly noise?: 'before' | 'among';
  readonly versions?: readonly number[];
  readonly refuses?: boolean;
  readonly protocolVersion?: number;
  readonly version?: string;
  readonly capabilities?: Record<string, unknown>;
  readonly ready?: Advert;
  readonly status?: Advert & {
    readonly answer?: 'live' | 'open' | 'saved' | 'not_found' | 'resource-error' | 'unknown-method' | 'nothing';
  };
  readonly turnComplete?: Partial<Advert> & {
    readonly when: 'before' | 'after' | 'late' | 'never' | 'twice' | 'wrong-id' | 'no-id' | 'unadvertised';
    readonly delayMs?: number;
  };
  /** Where the agent keeps its sessions, so that another process of it knows them. */
  readonly sessions?: SessionsScript;
  readonly authMethods?: readonly { readonly id: string; readonly name: string; readonly type?: string }[];
  readonly signedIn?: string;
  readonly authData?: object;
  readonly authWords?: string;
  readonly authOn?: 'open' | 'prompt';
  readonly logout?: boolean;
  readonly signInPage?: string;
  readonly early?: number;
  readonly history?: number;
  readonly modes?: unknown;
  readonly commands?: readonly object[];
  readonly configOptions?: readonly Record<string, unknown>[];
  /**
   * What a cancel does to open permissions: `wait` for their answers (as the protocol says),
   * `withdraw` them with `$/cancel_request` and end, `end` without a word, or `ignore` the cancel
   * and continue. Default `wait`.
   */
  readonly onCancel?: 'wait' | 'withdraw' | 'end' | 'ignore';
  readonly hears?: boolean;
  readonly countsIds?: boolean;
  /** How long session/new, load and resume take, in milliseconds. */
  readonly opensAfterMs?: number;
  /**
   * Plays for prompts that read as a person would write them, by the whole text of the prompt; `*`:
   * for all others.
   */
  readonly scenes?: Readonly<Record<string, string>>;
  readonly ignoreStdinEnd?: boolean;
  readonly ignoreSigterm?: boolean;
  /**
   * Starts a child in the same process group that never ends by itself; its pid is in the log as
   * `{ev: "child"}`.
   */
  readonly child?: boolean;
  readonly childIgnoresSigterm?: boolean;
  /** Milliseconds for answers that a client owes after a cancel or a withdrawal. Default 5000. */
  readonly answerDeadlineMs?: number;
  /**
   * False: what the client does wrong is only logged. Default: exit 9 with "VIOLATION …" on stderr.
   */
  readonly strict?: boolean;
}

const readyPlaces = {
  'ready-session': ['agentCapabilities', 'session', 'ready'],
  'ready-meta': ['agentCapabilities', '_meta', 'session/ready'],
} as const;

export const presets = {
  plain: {},
  proposals: {
    ready: { path: readyPlaces['ready-session'] },
    status: { path: ['agentCapabilities', 'sessionCapabilities', 'status'], value: {} },
    turnComplete: { when: 'before' },
  },
  'exit-at-once': { stderr: ['fatal: no model configured', 'run `agent setup` first'], exitAtStart: 1 },
  silent: { mute: ['initialize'] },
  'noise-among': { noise: 'among' },
  'needs-sign-in': { authMethods: [{ id: 'login', name: 'Log in' }] },
  early: { early: 35 },
  stubborn: { ignoreSigterm: true, ignoreStdinEnd: true, child: true, childIgnoresSigterm: true },
  'with-child': { child: true },
  'ready-session': { ready: { path: readyPlaces['ready-session'] } },
  'ready-meta': { ready: { path: readyPlaces['ready-meta'] } },
  'ready-false': { ready: { path: readyPlaces['ready-session'], value: false, counts: false } },
  history: { history: 20 },
} as const satisfies Record<string, AgentScript>;

/** The script of a command line: the name of a preset, or JSON. @throws Error if it is neither */
export function readScript(text: string | undefined): AgentScript {
  if (text === undefined || text === '') return presets.plain;
  if (text.startsWith('{')) return JSON.parse(text) as AgentScript;
  if (Object.hasOwn(presets, text)) return presets[text as keyof typeof presets];
  throw new Error(`There is no preset "${text}"; there are ${Object.keys(presets).join(', ')}.`);
}

// What a scripted agent is told at its start: how it introduces itself and how it misbehaves. What happens in a turn is told by the prompt (plays.ts).

/** A capability put at a path of the result of `initialize`. */
export interface Advert {
  readonly path: readonly string[];
  /** Default `true`. */
  readonly value?: unknown;
  /** Whether a client has to read it as a yes (default). With false the agent takes every use of it as a violation. */
  readonly counts?: boolean;
}

/** How an agent keeps its sessions, and what it does with old ones. */
export interface SessionsScript {
  /** The folder that they are kept in. */
  readonly store: string;
  /** session/load is advertised. */
  readonly load?: boolean;
  /**
   * When the past is repeated for session/load: before its answer (default), after it, half and half, in two bursts long after it, or for session/ready. The last
   * two give the session the title "repeated" at the end.
   */
  readonly replay?: 'before' | 'after' | 'both' | 'late' | 'ready';
  /** session/resume repeats the past before its answer, as it must not. */
  readonly resumeReplays?: boolean;
  /** Each repeated turn comes with a tool call that was not there before. */
  readonly addsTools?: boolean;
  /** Each repeated turn comes with its states and its turn_complete. */
  readonly states?: boolean;
  /** A session that is loaded works on: it says so, and goes on after its answer, up to the title "worked". */
  readonly worksOn?: boolean;
  /** session/fork repeats the past of the new session before the answer that names it. */
  readonly forkReplays?: boolean;
  /** Sessions on one page of session/list. Default 100. */
  readonly pageSize?: number;
  /** The code of the answer to an unknown session id. Default -32002. */
  readonly unknownCode?: number;
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
  /** The versions that it speaks. Default: 1 alone. */
  readonly versions?: readonly number[];
  /** How it answers an offer that it does not speak: with its highest version, as v1 has it (default where it speaks 1), or with -32022. */
  readonly refuses?: boolean;
  /** What it answers in place of the version that it speaks. */
  readonly protocolVersion?: number;
  /** Its own version, for clients that remember agents. */
  readonly version?: string;
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
  /** Where the agent keeps its sessions, so that another process of it knows them. */
  readonly sessions?: SessionsScript;
  /** session/new answers -32000 until `authenticate` was called with one of these methods' ids. */
  readonly authMethods?: readonly { readonly id: string; readonly name: string; readonly type?: string }[];
  /** The file that says that somebody has signed in, in the place of what this process remembers. */
  readonly signedIn?: string;
  /** The `data` of the error -32000. */
  readonly authData?: object;
  /** What is refused without a sign-in. Default: session/new, load, resume and fork. */
  readonly authOn?: 'open' | 'prompt';
  /** `logout` is advertised. */
  readonly logout?: boolean;
  /** `authenticate` sends the user to a page first, and fails unless they agree. */
  readonly signInPage?: string;
  /** So many updates for the new session before the response that tells its id. */
  readonly early?: number;
  /** session/load is advertised and replays so many pairs of messages. */
  readonly history?: number;
  readonly modes?: unknown;
  /** v2: the commands of a session. */
  readonly commands?: readonly object[];
  readonly configOptions?: readonly Record<string, unknown>[];
  /**
   * What a cancel does to open permissions: `wait` for their answers (as the protocol says), `withdraw` them with `$/cancel_request` and end,
   * `end` without a word, or `ignore` the cancel and go on. Default `wait`.
   */
  readonly onCancel?: 'wait' | 'withdraw' | 'end' | 'ignore';
  /** Each prompt is answered with “Heard” and its text, and nothing is played. */
  readonly hears?: boolean;
  /** Messages have ids, counted from one in each process. */
  readonly countsIds?: boolean;
  /** How long session/new, load and resume take, in milliseconds. */
  readonly opensAfterMs?: number;
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

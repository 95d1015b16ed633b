// What messages and tool calls are made of. Shaped like the protocol's content blocks (protocol section "Content"), read tolerantly: a kind we do not know is
// kept whole and shown generically.

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string; readonly uri?: string }
  | { readonly type: 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly mimeType?: string;
      readonly description?: string;
    }
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly text?: string;
      readonly blob?: string;
      readonly mimeType?: string;
    }
  | {
      readonly type: 'unknown';
      readonly kind: string;
      /** The block as it came; of a text for the agent, the text. */
      readonly raw: unknown;
      /** Known, but meant for the agent alone (`annotations.audience`). */
      readonly forAgent?: true;
    };

/** A place where a file changes. */
export interface ChangeHunk {
  /** 1-based first lines. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

/** What a tool call shows: content, a change to a file (absolute path; `oldText` absent: a new file), or a terminal by id. */
export type ToolContent =
  | { readonly type: 'content'; readonly block: ContentBlock }
  | {
      readonly type: 'diff';
      readonly path: string;
      readonly oldText?: string;
      readonly newText: string;
      /** The agent sent a patch: these are its hunks, and the texts are only what they show of the file. */
      readonly hunks?: readonly ChangeHunk[];
      /** Where the file was before, where it moves or is copied. */
      readonly oldPath?: string;
      /** What happens to the file: `add`, `delete`, `modify`, `move`, `copy`, or the agent's own word. */
      readonly operation?: string;
    }
  | { readonly type: 'terminal'; readonly terminalId: string }
  | { readonly type: 'unknown'; readonly kind: string; readonly raw: unknown };

/** A place in a file; `line` is 1-based. */
export interface ToolLocation {
  readonly path: string;
  readonly line?: number;
}

/** `pending` before it runs; `cancelled` is ours for calls that a cancelled turn left open; unknown words count as in progress. */
export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'paused';

export interface PlanEntry {
  readonly content: string;
  readonly priority?: string;
  readonly status: string;
}

export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  /** What to type after the command, where the agent says it. */
  readonly hint?: string;
}

export interface ConfigValue {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly group?: string;
}

/** A setting of the session that the agent offers. */
export type ConfigOption = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly category?: string;
} & (
  | { readonly type: 'select'; readonly value: string; readonly values: readonly ConfigValue[] }
  | { readonly type: 'boolean'; readonly value: boolean }
);

export interface SessionMode {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** Tokens of a turn by what they went to, as far as the agent says. */
export interface TokenParts {
  readonly input?: number;
  readonly output?: number;
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
  readonly thought?: number;
}

/** What a turn cost in tokens, altogether and in parts. */
export interface TurnTokens {
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
}

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or the agent's own word. */
  readonly kind: string;
}

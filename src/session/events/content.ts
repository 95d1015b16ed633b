// The contents of messages and tool calls. They follow the protocol's content blocks (section
// "Content") and are read tolerantly: unknown kinds are kept whole and shown generically.

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
      /** The block as received; for text meant for the agent only, the text. */
      readonly raw: unknown;
      /** Known, but meant for the agent alone (`annotations.audience`). */
      readonly forAgent?: true;
    };

/** A location in a file that a change touches. */
export interface ChangeHunk {
  /** 1-based first lines. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

/**
 * The content of a tool call: a content block, a file change (absolute path; no `oldText` means a
 * new file), or a terminal id.
 */
export type ToolContent =
  | { readonly type: 'content'; readonly block: ContentBlock }
  | {
      readonly type: 'diff';
      readonly path: string;
      readonly oldText?: string;
      readonly newText: string;
      /** The agent sent a patch: these are its hunks, and the texts hold only the lines in them. */
      readonly hunks?: readonly ChangeHunk[];
      /** The previous path of a file that is moved or copied. */
      readonly oldPath?: string;
      /**
       * What happens to the file: `add`, `delete`, `modify`, `move`, `copy`, or a name of the
       * agent's own.
       */
      readonly operation?: string;
    }
  | { readonly type: 'terminal'; readonly terminalId: string }
  | { readonly type: 'unknown'; readonly kind: string; readonly raw: unknown };

/** A place in a file; `line` is 1-based. */
export interface ToolLocation {
  readonly path: string;
  readonly line?: number;
}

/**
 * `pending` before the call runs. `cancelled` is set by the client on calls that a cancelled turn
 * left open. Unknown values count as in progress.
 */
export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'paused';

export interface PlanEntry {
  readonly content: string;
  readonly priority?: string;
  readonly status: string;
}

export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  /** Hint for the command's argument, if the agent gives one. */
  readonly hint?: string;
}

export interface ConfigValue {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly group?: string;
}

/** A session setting that the agent offers. */
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

/** A mode, or the value of an option, that is to be in force. */
export interface Choice {
  /** Of the option; absent: a mode outside of the options. */
  readonly id?: string;
  readonly value: string | boolean;
  /** As the user saw it. */
  readonly label: string;
  /** It stands for the agent's mode, which agents offer as modes or as an option. */
  readonly isMode?: true;
  /** A prompt waits also where the agent no longer offers it. */
  readonly isRequired?: true;
}

export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** Token counts of a turn by category, as far as the agent reports them. */
export interface TokenParts {
  readonly input?: number;
  readonly output?: number;
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
  readonly thought?: number;
}

/** Token counts of a turn: total and by category. */
export interface TurnTokens {
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
}

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or a name of the agent's own. */
  readonly kind: string;
}

/** A rule that a permission request can be made into: for this folder, what is asked for now. */
export interface PermissionRuleOffer {
  readonly kind: 'execute' | 'edit' | 'read';
  /** The command, or a glob on paths relative to the folder. */
  readonly pattern: string;
  /** Absolute. */
  readonly folder: string;
}

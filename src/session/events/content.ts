// Contents of messages and tool calls. They follow the protocol's content blocks (section
// "Content") and are parsed tolerantly: unknown kinds are kept whole and shown generically.

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
      readonly raw: unknown;
      readonly forAgent?: true;
    };

export interface ChangeHunk {
  /** 1-based. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

/** In a diff, `path` is absolute, and a missing `oldText` means a new file. */
export type ToolContent =
  | { readonly type: 'content'; readonly block: ContentBlock }
  | {
      readonly type: 'diff';
      readonly path: string;
      readonly oldText?: string;
      readonly newText: string;
      readonly hunks?: readonly ChangeHunk[];
      readonly oldPath?: string;
      /** `add`, `delete`, `modify`, `move`, `copy`, or a name that the agent made up. */
      readonly operation?: string;
    }
  | { readonly type: 'terminal'; readonly terminalId: string }
  | { readonly type: 'unknown'; readonly kind: string; readonly raw: unknown };

/** `line` is 1-based. */
export interface ToolLocation {
  readonly path: string;
  readonly line?: number;
}

export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'paused';

export interface PlanEntry {
  readonly content: string;
  readonly priority?: string;
  readonly status: string;
}

export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
}

export interface ConfigValue {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  readonly group?: string;
}

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

export interface Choice {
  /** Of the option; absent for a mode that is not an option. */
  readonly id?: string;
  readonly value: string | boolean;
  readonly label: string;
  readonly isMode?: true;
  readonly isRequired?: true;
}

export interface Usage {
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A usage limit of the user's account, reported by the agent. */
export interface RateLimit {
  /** A code such as `five_hour`, or ''. */
  readonly kind: string;
  readonly state: 'ok' | 'warning' | 'reached';
  /** 0 to 1. */
  readonly used?: number;
  /** In ms since 1970. */
  readonly resetsAt?: number;
}

export interface TokenParts {
  readonly input?: number;
  readonly output?: number;
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
  readonly thought?: number;
}

export interface TurnTokens {
  readonly tokens?: number;
  readonly tokenParts?: TokenParts;
}

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
}

export interface PermissionRuleOffer {
  readonly kind: 'execute' | 'edit' | 'read';
  /** The command, or a glob relative to the folder. */
  readonly pattern: string;
  readonly folder: string;
}

// What the tools of one session are answered by.

import type { ToolAnswer } from './answer';
import type { ToolArgs, ToolName } from './tools';

/** A tool as `tools/list` has it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** Tools of other extensions. */
export interface OtherTools {
  /** Those that the session may use now. */
  list(): readonly ListedTool[];
  /**
   * Calls one of the list.
   * @throws Error with a sentence for the model
   */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface ToolCaller {
  /** The version of Parley. */
  readonly version: string;
  /** The tools that the session may use now. */
  tools(): readonly ToolName[];
  /**
   * Calls a tool.
   * @param args as `readArgs` returns them
   * @throws Error with a sentence for the model
   */
  call<Name extends ToolName>(name: Name, args: ToolArgs<Name>, signal: AbortSignal): Promise<ToolAnswer>;
  readonly others: OtherTools;
}

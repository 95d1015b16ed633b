// What the tools of one session are answered by.

import type { ToolAnswer } from './answer';
import type { ToolArgs, ToolName } from './tools';

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

export interface OtherTools {
  list(): readonly ListedTool[];
  /** @throws Error with a sentence for the model */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}

export type ToolCall<Name extends ToolName> = (args: ToolArgs<Name>, signal: AbortSignal) => Promise<ToolAnswer>;

export interface ToolCaller {
  readonly version: string;
  tools(): readonly ToolName[];
  /**
   * @param args as `readArgs` returns them
   * @throws Error with a sentence for the model
   */
  call<Name extends ToolName>(name: Name, args: ToolArgs<Name>, signal: AbortSignal): Promise<ToolAnswer>;
  readonly others: OtherTools;
}

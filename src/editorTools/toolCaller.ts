// What the tools of one session are answered by.

import type { ToolAnswer } from './answer';
import type { ToolArgs, ToolName } from './tools';

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
}

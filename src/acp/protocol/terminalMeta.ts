// Terminals that agents run themselves and describe only in `_meta` (an extension shared by several
// agents): shown like the client's own, never opened or killed.
import * as z from 'zod/mini';
import type { SessionEvent } from '../../session/events/event';

const output = z.object({ terminal_id: z.string(), data: z.string() });

const metaSchema = z.object({
  terminal_info: z.catch(z.nullish(z.object({ terminal_id: z.string(), cwd: z.nullish(z.string()) })), null),
  terminal_output: z.catch(z.nullish(output), null),
  terminal_output_delta: z.catch(z.nullish(output), null),
  terminal_exit: z.catch(
    z.nullish(z.object({ terminal_id: z.string(), exit_code: z.nullish(z.number()), signal: z.nullish(z.string()) })),
    null,
  ),
});

export function terminalMeta(meta: unknown, emit: (event: SessionEvent) => void): void {
  if (typeof meta !== 'object' || meta === null) return;
  const parsed = metaSchema.safeParse(meta);
  if (!parsed.success) return;
  const {
    terminal_info: info,
    terminal_output: whole,
    terminal_output_delta: delta,
    terminal_exit: exit,
  } = parsed.data;
  if (info) emit({ type: 'terminal', terminalId: info.terminal_id, cwd: info.cwd || undefined });
  for (const part of [whole, delta]) {
    if (part) emit({ type: 'terminal', terminalId: part.terminal_id, append: part.data });
  }
  if (exit) {
    emit({
      type: 'terminal',
      terminalId: exit.terminal_id,
      exit: {
        exitCode: exit.exit_code ?? undefined,
        signal: exit.signal || undefined,
      },
    });
  }
}

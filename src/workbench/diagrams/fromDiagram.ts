// Validates messages of a diagram's page: it shows what an agent wrote, so it is not trusted.
import * as z from 'zod/mini';
import { type FromDiagram, MAX_PICTURE } from '../../panel/diagramContract';

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('save'), svg: z.string().check(z.maxLength(MAX_PICTURE), z.startsWith('<svg')) }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

export function readFromDiagram(message: unknown): FromDiagram | undefined {
  const parsed = schema.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}

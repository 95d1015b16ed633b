// Validates messages of the traffic inspector: its page shows text of agents, so it is not trusted.
import * as z from 'zod/mini';
import type { FromTraffic } from '../../panel/trafficContract';

const number = z.int().check(z.nonnegative());

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('ack') }),
  z.object({ type: z.literal('pause'), isPaused: z.boolean() }),
  z.object({ type: z.literal('clear') }),
  z.object({ type: z.literal('select'), seq: number }),
  z.object({ type: z.literal('find'), id: number, text: z.string().check(z.maxLength(1_000)) }),
  z.object({ type: z.literal('copy'), seq: number }),
  z.object({ type: z.literal('export'), key: z.nullable(z.string().check(z.maxLength(500))) }),
  z.object({ type: z.literal('openRecording') }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

export function readFromTraffic(message: unknown): FromTraffic | undefined {
  const parsed = schema.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}

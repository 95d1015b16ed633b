// The wire of a check as a recording, which the traffic inspector of Parley opens.
import { redact } from '../base/redact';
import { cleanMessages } from '../traffic/cleanMessages';
import { writeRecording } from '../traffic/recording';
import type { TrafficEntry } from '../traffic/trafficLog';
import type { WireLine } from './wire/wireLog';

const KINDS = { sent: 'out', received: 'in', noise: 'noise', note: 'stderr' } as const;

/** Returns a recording without known secrets. */
export async function recordWire(lines: readonly WireLine[], agent: string, version: string): Promise<string> {
  const entries = lines.map(({ n, ms, dir, text, message }): TrafficEntry => {
    const line = message ? JSON.stringify(message) : text;
    return { seq: n, at: ms, key: 'check', kind: KINDS[dir], text: line, length: line.length };
  });
  return writeRecording(await cleanMessages(entries), [], { agent: redact(agent), version });
}

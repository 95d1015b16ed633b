// Parses a line of the traffic as a message.
import type { TrafficEntry } from './trafficLog';

export type WireMessage = Readonly<Record<string, unknown>>;

export function messageOf({
  kind,
  text,
  length,
}: Pick<TrafficEntry, 'kind' | 'text' | 'length'>): WireMessage | undefined {
  return (kind === 'in' || kind === 'out') && length === text.length ? jsonObject(text) : undefined;
}

export function jsonObject(text: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireMessage) : undefined;
  } catch {
    return undefined;
  }
}

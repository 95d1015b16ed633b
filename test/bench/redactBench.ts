// How the search for secrets grows with its text: hostile repetitions of what its patterns begin with.
import { redact } from '../../src/base/redact';
import { type Row, rounded } from './figures';

const BEGINNINGS = [
  'https://',
  '://a:',
  'password ',
  'mysql ',
  'curl ',
  '-----BEGIN PRIVATE KEY-----',
  'machine ',
  'a',
  'sk-',
  'eyJaaaaaaaaaa.',
  'key= ',
  'cookie: ',
  'authorization ',
  '?token=',
  '--a-',
  'x.-',
];

/** Characters. */
const [SHORT, LONG] = [60_000, 600_000];

/** Returns how many times as long the worst beginning takes in ten times the text: 10 is linear. */
export function measureRedaction(): readonly Row[] {
  const ratios = BEGINNINGS.map((part) => {
    timeOf(part, SHORT);
    return timeOf(part, LONG) / timeOf(part, SHORT);
  });
  return [
    { name: 'redaction: 10 × the text', value: rounded(Math.max(...ratios)), unit: '×', target: 20, better: 'lower' },
  ];
}

/** Returns milliseconds. */
function timeOf(part: string, size: number): number {
  const text = part.repeat(size / part.length);
  const began = performance.now();
  redact(text);
  return performance.now() - began;
}

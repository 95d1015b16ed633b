// Reads records of git's `-z` formats in slices that yield to other work.
import { Slices } from '../lines/slices';

/** The parts are views of the output. */
export async function splitRecords(output: Buffer): Promise<Buffer[]> {
  const records: Buffer[] = [];
  const slices = new Slices();
  for (let at = 0; at < output.length; ) {
    const found = output.indexOf(0, at);
    const end = found < 0 ? output.length : found;
    records.push(output.subarray(at, end));
    at = end + 1;
    await slices.step();
  }
  return records;
}

const NUL = Buffer.from([0]);

export function joinRecords(records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.flatMap((record) => [record, NUL]));
}

export function pathText(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') && !Buffer.from(text).equals(bytes) ? undefined : text;
}

// Reads the recorded exchanges with the real server of the Agent Communication Protocol
// (test/fixtures/communication).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RecordedAnswer {
  /** Absent if only the body was recorded. */
  readonly status?: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Answers by the title of their section, in order. */
export function recordedExchanges(): ReadonlyMap<string, readonly RecordedAnswer[]> {
  const sections = new Map<string, readonly RecordedAnswer[]>();
  for (const file of ['basic.txt', 'edge.txt']) {
    const text = readFileSync(join(process.cwd(), 'test/fixtures/communication', file), 'utf8');
    for (const section of text.split(/^## /m).slice(1)) {
      const [title = '', ...lines] = section.split(/\r?\n/);
      sections.set(title, readAnswers(lines));
    }
  }
  return sections;
}

function readAnswers(lines: readonly string[]): readonly RecordedAnswer[] {
  const answers: RecordedAnswer[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const status = /^HTTP\/1\.1 (\d{3})/.exec(line)?.[1];
    const headers = new Map<string, string>();
    if (status !== undefined) {
      for (at += 1; (lines[at] ?? '') !== ''; at++) {
        const [name = '', value = ''] = (lines[at] ?? '').split(/: (.*)/);
        headers.set(name.toLowerCase(), value);
      }
      at += 1;
    } else if (line === '') {
      at += 1;
      continue;
    }
    const isStream = (lines[at] ?? '').startsWith('data: ');
    const end = isStream ? lines.length : at + 1;
    const body = lines.slice(at, end).join('\n');
    answers.push({ ...(status !== undefined && { status: Number(status) }), headers, body });
    at = end;
  }
  return answers;
}

// Recorded traffic of real agents over the client's own connection: however the bytes are split,
// the transcript matches the golden one, and no update is dropped. After an intended change:
// UPDATE_GOLDEN=1 npm run test:unit -- recordings
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecording, recordingNames, replayOverWire } from '../../support/protocol/recordings';

const golden = join(process.cwd(), 'test/golden/transcripts');

describe('recorded agents', function () {
  this.timeout(30_000);

  for (const name of recordingNames()) {
    it(`show the complete transcript: ${name}`, async () => {
      const lines = readRecording(name);
      const replay = await replayOverWire(lines);
      const recorded = lines.filter(({ dir, msg }) => dir === 'a2c' && msg?.method === 'session/update').length;
      assert.equal(replay.updates, recorded);
      assert.deepEqual(replay.problems, []);
      const path = join(golden, `${name}.txt`);
      const text = replay.transcript();
      if (process.env.UPDATE_GOLDEN || !existsSync(path)) writeFileSync(path, text);
      assert.equal(text, readFileSync(path, 'utf8'));
    });

    for (const [words, manner] of [
      ['in single bytes', { piece: 1 }],
      ['in pieces of 7 bytes', { piece: 7 }],
      ['among noise, with CRLF', { noise: true }],
      ['among noise, with CRLF, in pieces of 7 bytes', { noise: true, piece: 7 }],
    ] as const) {
      it(`give the same transcript ${words}: ${name}`, async () => {
        const replay = await replayOverWire(readRecording(name), manner);
        assert.deepEqual(replay.problems, []);
        assert.equal(replay.transcript(), readFileSync(join(golden, `${name}.txt`), 'utf8'));
      });
    }
  }
});

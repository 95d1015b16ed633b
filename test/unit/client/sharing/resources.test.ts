// Where messages of sessions are stored: the setting, the keys of a place, and the files next to
// the sessions.
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../../../src/base/errors';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { keysName, originsOf, parseAllow, parseResources } from '../../../../src/client/sharing/resourcesSetting';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const bucket = { type: 's3', endpoint: 'https://s3.example.com', region: 'eu-1', bucket: 'b' };

describe('the setting parley.resources', () => {
  it('keeps messages on this machine by default', () => {
    for (const setting of [undefined, null, { type: 'local' }])
      assert.deepEqual(parseResources(setting), { type: 'local' });
  });

  it('stores messages in the configured folder of the bucket', () => {
    const prefixes = [undefined, 'a', 'a/b/'].map((prefix) => {
      const parsed = parseResources({ ...bucket, ...(prefix !== undefined && { prefix }) });
      return parsed.type === 's3' ? parsed.place.prefix : undefined;
    });
    assert.deepEqual(prefixes, ['', 'a/', 'a/b/']);
  });

  for (const setting of [
    's3',
    { type: 'ftp' },
    { ...bucket, bucket: '' },
    { type: 's3' },
    { ...bucket, pathStyle: 1 },
  ]) {
    it(`is rejected if invalid: ${JSON.stringify(setting)}`, () => {
      assert.throws(
        () => parseResources(setting),
        (error) => error instanceof ParleyError && error.code === 'bad-setting' && error.hint !== undefined,
      );
    });
  }

  it('separates the keys of different servers', () => {
    const nameOf = (more: object): string => {
      const parsed = parseResources({ ...bucket, ...more });
      return parsed.type === 's3' ? keysName(parsed.place) : '';
    };
    assert.equal(nameOf({ prefix: 'x' }), nameOf({ region: 'other' }));
    assert.notEqual(nameOf({}), nameOf({ endpoint: 'https://s3.example.org' }));
    assert.notEqual(nameOf({}), nameOf({ endpoint: 'http://s3.example.com' }));
    assert.notEqual(nameOf({}), nameOf({ bucket: 'c' }));
  });
});

describe('the setting parley.resources.allow', () => {
  it('is a list of origins, in any notation', () => {
    const written = ['https://A.example.com/', 'http://10.0.0.5:9000', 'https://a.example.com:443', 'http://[::1]:80'];
    assert.deepEqual(parseAllow(written), {
      origins: ['https://a.example.com', 'http://10.0.0.5:9000', 'http://[::1]'],
      problems: [],
    });
    for (const none of [undefined, null, []]) assert.deepEqual(parseAllow(none), { origins: [], problems: [] });
  });

  it('reports invalid entries without repeating them, and reads the others', () => {
    const wrong = [
      'https://a.example.com/path',
      'https://user:secret@a.example.com',
      'https://*.example.com',
      'https://a.example.com?x',
      'ftp://a.example.com',
      'a.example.com',
      'https://',
      7,
    ];
    const { origins, problems } = parseAllow([...wrong, 'https://b.example.com']);
    assert.deepEqual(origins, ['https://b.example.com']);
    assert.deepEqual(problems, ["Entries 1, 2, 3, 4, 5, 6, 7, 8 aren't origins."]);
    assert.deepEqual(parseAllow('https://a.example.com').problems, ['It must be a list of origins.']);
  });

  it('reads 1,000 entries and reports that it reads no more', () => {
    const many = Array.from({ length: 1001 }, (_, at) => `http://10.0.0.1:${at + 1}`);
    assert.equal(parseAllow(many).origins.length, 1000);
    assert.match(parseAllow(many).problems.join(), /first 1000/);
  });
});

describe('the origins of a bucket', () => {
  it('are the endpoint and the host that names the bucket', () => {
    const parsed = parseResources({ ...bucket, pathStyle: false });
    assert.ok(parsed.type === 's3');
    assert.deepEqual(originsOf(parsed.place), ['https://s3.example.com', 'https://b.s3.example.com']);
  });
});

describe('the store of texts next to the sessions', () => {
  afterEach(removeScratch);

  it('returns the complete text that was stored last', async () => {
    const folder = await scratchFolder();
    const fileStore = new FileStore(folder);
    assert.equal(await fileStore.read('a'), undefined);
    await Promise.all(['one', 'two', 'three'].map((text) => fileStore.write('a', text)));
    await fileStore.write('../b', 'other');
    assert.deepEqual([await fileStore.read('a'), await fileStore.read('../b')], ['three', 'other']);
    const names = await readdir(folder);
    assert.equal(names.length, 2, 'a key cannot leave the folder');
    for (const name of names) await writeFile(join(folder, name), (await readFile(join(folder, name))).subarray(0, -1));
    await assert.rejects(fileStore.read('a'), (error) => error instanceof ParleyError && error.code === 'torn');
  });
});

// Values typed into a form, and the values sent.
import { strict as assert } from 'node:assert';
import type { FormField } from '../../../../src/panel/contract';
import { initialValues, isSecret, keepable, readValue } from '../../../../src/webview/questions/formState';

const field = (patch: Record<string, unknown>): FormField => ({ key: 'k', required: false, ...patch }) as FormField;

describe('webview/formState', () => {
  it('sends numbers as numbers, and texts as texts', () => {
    assert.equal(readValue(field({ type: 'number' }), ' 1.5 '), 1.5);
    assert.equal(readValue(field({ type: 'integer' }), '  '), undefined);
    assert.ok(Number.isNaN(readValue(field({ type: 'integer' }), '7x')));
    assert.equal(readValue(field({ type: 'text' }), '7'), '7');
  });

  it("converts a time from the user's time zone", () => {
    const time = field({ type: 'text', format: 'date-time', initial: '2026-11-21T09:30:00+05:00' });
    const { k = '' } = initialValues({ fields: [time] });
    assert.match(String(k), /^2026-11-2\dT\d\d:\d\d:00$/);
    assert.equal(readValue(time, k), '2026-11-21T04:30:00.000Z');
    assert.equal(readValue(time, 'soon'), 'soon');
  });

  for (const secret of [
    { key: 'apiKey' },
    { key: 'pw', title: 'Password' },
    { key: 'github_token' },
    { key: 'x', description: 'Your client secret' },
  ]) {
    it(`neither stores nor prefills a secret: ${JSON.stringify(secret)}`, () => {
      const form = {
        fields: [
          field({ type: 'text', initial: 'hidden', ...secret }),
          field({ key: 'city', type: 'text', initial: 'Bonn' }),
        ],
      };
      assert.ok(isSecret(form.fields[0] as FormField));
      assert.deepEqual(initialValues(form), { [secret.key]: '', city: 'Bonn' });
      assert.deepEqual(keepable(form, { [secret.key]: 'typed', city: 'Köln' }), { city: 'Köln' });
    });
  }

  it('does not treat other fields as secrets', () => {
    for (const key of ['name', 'pinned', 'tokenizer', 'keyboard'])
      assert.ok(!isSecret(field({ key, type: 'text' })), key);
  });
});

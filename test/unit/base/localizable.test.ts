// Localizable texts from creation to display.
import { strict as assert } from 'node:assert';
import * as l10n from '@vscode/l10n';
import { errorText, ParleyError } from '../../../src/base/errors';
import {
  boundText,
  framed,
  inEnglish,
  type Localizable,
  lines,
  localizable,
  localize,
  mapForeign,
  withoutFullStop,
} from '../../../src/base/localizable';
import { waitReasonLabel } from '../../../src/client/view/waitReasonLabels';
import { detailed, readReason } from '../../../src/session/queue/waitReason';

const BUNDLE = {
  'Not found: {0}.': 'Nicht gefunden: {0}.',
  'It ended.': 'Es ist beendet.',
  'Paused: {0}': 'Angehalten: {0}',
};

describe('a localizable text', () => {
  before(() => l10n.config({ contents: BUNDLE }));
  after(() => l10n.config({ contents: {} }));

  const text = localizable('Not found: {0}.', 'x {1}');

  it('is translated for the reader, with unchanged arguments', () => {
    assert.equal(localize(text), 'Nicht gefunden: x {1}.');
    assert.equal(inEnglish(text), 'Not found: x {1}.');
    assert.equal(localize('Not found: {0}.'), 'Not found: {0}.', 'a text of others is no key');
  });

  it('accepts localizable texts as arguments', () => {
    const whole = framed('{0}: {1}', 'Ada', withoutFullStop(localizable('It ended.')));
    assert.equal(localize(whole), 'Ada: Es ist beendet');
    assert.equal(inEnglish(whole), 'Ada: It ended');
    assert.equal(localize(lines([text, 'plain'])), 'Nicht gefunden: x {1}.\nplain');
    assert.equal(withoutFullStop('It broke.'), 'It broke');
  });

  it('survives JSON', () => {
    const whole = framed('{0} {1}', text, 3);
    assert.equal(localize(JSON.parse(JSON.stringify(whole))), localize(whole));
  });

  it('has its arguments redacted at each level', () => {
    const whole = localizable('Not found: {0}.', framed('{0} ({1})', 'here', 'the key s3cret'));
    const scrubbed = mapForeign(whole, (foreign) => foreign.replace('s3cret', '…'));
    assert.equal(localize(scrubbed), 'Nicht gefunden: here (the key …).');
  });

  it('is bounded in length, arguments and depth', () => {
    const bounded = boundText(localizable('Not found: {0}.', 'x'.repeat(5000)), 100);
    assert.equal(localize(bounded), `Nicht gefunden: ${'x'.repeat(100)}.`);
    let deep: Localizable = localizable('{0}', 'x');
    for (let level = 0; level < 1000; level++) deep = localizable('{0}', deep);
    assert.ok(JSON.stringify(boundText(deep, 100)).length < 500);
    const wide = localizable('{0}', ...Array.from({ length: 1000 }, () => 'x'));
    assert.ok(JSON.stringify(boundText(wide, 100)).length < 500);
  });

  it('is empty if the stored value is damaged', () => {
    for (const damaged of [{}, { key: 1, args: [] }, { key: 'x', args: [{}] }, null] as unknown as Localizable[]) {
      assert.equal(localize(damaged), '');
      assert.equal(boundText(damaged, 10), '');
    }
  });

  it('is available on an error besides the message', () => {
    const error = new ParleyError('gone', text, { hint: localizable('It ended.') });
    assert.equal(error.message, 'Nicht gefunden: x {1}.');
    assert.equal(error.hint, 'Es ist beendet.');
    assert.deepEqual(error.texts, { message: text, hint: localizable('It ended.') });
    assert.equal(errorText(error), text);
    assert.equal(errorText(new Error('plain')), 'plain');
  });

  it('can be the detail of a waiting reason', () => {
    const reason = detailed('agent-ended', localizable('It ended.'));
    assert.deepEqual(readReason(reason), { code: 'agent-ended', detail: localizable('It ended.') });
    assert.equal(waitReasonLabel(reason), 'Angehalten: Es ist beendet.');
    assert.equal(
      waitReasonLabel(detailed('agent-ended', '{"key":"It ended.","args":[]}')),
      'Angehalten: {"key":"It ended.","args":[]}.',
    );
    assert.equal(
      waitReasonLabel('agent-ended {"key":1}'),
      'agent-ended {"key":1}',
      'what is damaged is shown as it is',
    );
  });
});

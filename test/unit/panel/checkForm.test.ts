// Form answers reach the agent as it expects them, or not at all.
import { strict as assert } from 'node:assert';
import { checkField, checkForm, MAX_FORM_TEXT } from '../../../src/panel/checkForm';
import type { FormField } from '../../../src/session/events/form';

const field = (patch: Record<string, unknown>): FormField => ({ key: 'k', required: false, ...patch }) as FormField;
const problem = (patch: Record<string, unknown>, value: unknown): string | undefined =>
  checkField(field(patch), value).problem?.code;

describe('a form answer', () => {
  const options = [
    { value: 'a', title: 'A' },
    { value: 'b', title: 'B' },
    { value: 'c', title: 'C' },
  ];
  const refused: readonly (readonly [patch: Record<string, unknown>, value: unknown, code: string])[] = [
    [{ type: 'text', required: true }, '', 'required'],
    [{ type: 'text', required: true }, undefined, 'required'],
    [{ type: 'text' }, 7, 'type'],
    [{ type: 'text', minLength: 2 }, 'a', 'tooShort'],
    [{ type: 'text', minLength: 2 }, '😀', 'tooShort'],
    [{ type: 'text', maxLength: 2 }, 'abc', 'tooLong'],
    [{ type: 'text' }, 'x'.repeat(MAX_FORM_TEXT + 1), 'tooLong'],
    [{ type: 'text', format: 'email' }, 'nobody', 'email'],
    [{ type: 'text', format: 'email' }, 'a@b@c', 'email'],
    [{ type: 'text', format: 'uri' }, 'example.com', 'uri'],
    [{ type: 'text', format: 'date' }, '2026-02-30', 'date'],
    [{ type: 'text', format: 'date' }, '21.11.2026', 'date'],
    [{ type: 'text', format: 'date-time' }, '2026-11-21T25:00:00Z', 'date-time'],
    [{ type: 'text', format: 'date-time' }, '2026-11-21T09:00', 'date-time'],
    [{ type: 'number' }, '7', 'number'],
    [{ type: 'number' }, Number.NaN, 'number'],
    [{ type: 'integer' }, 1.5, 'integer'],
    [{ type: 'integer' }, 2 ** 60, 'integer'],
    [{ type: 'number', minimum: 0 }, -0.1, 'tooSmall'],
    [{ type: 'number', maximum: 1 }, 1.1, 'tooLarge'],
    [{ type: 'boolean' }, 'true', 'type'],
    [{ type: 'choice', options }, 'd', 'option'],
    [{ type: 'choices', options }, 'a', 'type'],
    [{ type: 'choices', options }, ['d'], 'option'],
    [{ type: 'choices', options, minItems: 2 }, ['a', 'a'], 'tooFew'],
    [{ type: 'choices', options, maxItems: 1 }, ['a', 'b'], 'tooMany'],
    [{ type: 'choices', options, required: true, minItems: 1 }, [], 'required'],
    [{ type: 'unknown', kind: 'hologram', required: true }, 'x', 'unanswerable'],
  ];
  for (const [patch, value, code] of refused) {
    it(`is rejected with ${code}: ${JSON.stringify(patch)} with ${JSON.stringify(value)?.slice(0, 40)}`, () => {
      assert.equal(problem(patch, value), code);
    });
  }

  const taken: readonly (readonly [patch: Record<string, unknown>, value: unknown])[] = [
    [{ type: 'text', minLength: 1, maxLength: 1 }, '😀'],
    [{ type: 'text', format: 'email' }, 'ann.lee+x@mail.example'],
    [{ type: 'text', format: 'uri' }, 'urn:isbn:0451450523'],
    [{ type: 'text', format: 'date' }, '2028-02-29'],
    [{ type: 'text', format: 'date-time' }, '2026-11-21T09:00:00.5+01:00'],
    [{ type: 'integer', minimum: -2, maximum: -2 }, -2],
    [{ type: 'boolean', required: true }, false],
    [{ type: 'choices', options, required: true }, []],
    [{ type: 'choices', options, minItems: 1 }, ['b']],
  ];
  for (const [patch, value] of taken) {
    it(`is accepted: ${JSON.stringify(patch)} with ${JSON.stringify(value)}`, () => {
      assert.deepEqual(checkField(field(patch), value), { value });
    });
  }

  it('omits empty and unknown fields', () => {
    const form = {
      fields: [
        field({ type: 'text' }),
        field({ key: 'n', type: 'number' }),
        field({ key: 'u', type: 'unknown', kind: 'x' }),
      ],
    };
    assert.deepEqual(checkForm(form, { k: '', u: 1, more: 'x' }), { content: {} });
  });

  it('treats a field named `__proto__` as data', () => {
    const form = {
      fields: [field({ key: '__proto__', type: 'text' }), field({ key: 'toString', type: 'text', required: true })],
    };
    const checked = checkForm(form, { ['__proto__']: 'x' });
    assert.ok('problems' in checked && checked.problems.get('toString')?.code === 'required');
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});

// Check Conformance with the reference agent: it passes, and each of its faults is reported with
// the relevant lines.
import { strict as assert } from 'node:assert';
import type { ConformanceReport } from '../../../src/conformance/checkAgent';
import { RULES } from '../../../src/conformance/judge';
import { groupOf } from '../../../src/conformance/rules/rule';
import { type CheckLimits, MAX_PROMPTS } from '../../../src/conformance/run/checkOptions';
import { checkReference, WHOLE } from '../../support/agents/reference/checkReference';
import { REFERENCE_FAULTS, type ReferenceFaultName } from '../../support/agents/reference/referenceFaults';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { seeds } from '../../support/tier';

function rulesOf(report: ConformanceReport, verdict: string): readonly string[] {
  return report.versions.flatMap(({ verdicts }) =>
    verdicts.filter((one) => one.verdict === verdict).map(({ id }) => id),
  );
}

const TRIALS =
  /^(?:_parley\.check\/unknown, which was not advertised|session\/prompt for (?:the unknown session "parley-check-|a session that was closed))/;

type Case = readonly [version: 1 | 2, script: ReferenceScript | ReferenceFaultName, ...rules: string[]];

const CASES: readonly Case[] = [
  [1, 'noise', 'wire.stdout'],
  [1, 'batch', 'wire.json-rpc'],
  [1, 'no-version', 'wire.json-rpc'],
  [1, 'answers-twice', 'wire.answers'],
  [1, 'text-ids', 'wire.answers'],
  [1, 'both-answers', 'wire.answers'],
  [2, 'knows-everything', 'wire.unknown-method'],
  [1, 'unknown-update', 'wire.updates'],
  [2, 'empty-update', 'wire.updates'],
  [1, 'exits', 'wire.alive', 'prompt.end'],
  [1, 'future-version', 'initialize.answer'],
  [1, 'list-of-capabilities', 'initialize.capabilities'],
  [1, { refuse: { 'session/new': -32603 } }, 'new.id'],
  [1, 'no-session-id', 'new.id'],
  [1, 'same-session-id', 'new.unique'],
  [1, 'odd-reason', 'prompt.reason'],
  [1, 'other-session', 'prompt.output'],
  [1, 'takes-any-session', 'prompt.unknown-session', 'close.prompt'],
  [1, 'cancel-completes', 'cancel.reason', 'permission.cancelled', 'close.cancels'],
  [2, 'cancel-completes', 'cancel.reason', 'permission.cancelled', 'close.cancels'],
  [1, 'cancel-fails', 'cancel.reason'],
  [1, 'cancel-sticks', 'cancel.idle'],
  [1, 'no-options', 'permission.request'],
  [2, 'odd-kind', 'permission.request'],
  [1, 'asks-elsewhere', 'permission.turn'],
  [1, 'relative-folder', 'list.sessions'],
  [2, 'no-list', 'list.sessions'],
  [1, 'loads-nothing', 'load.replay'],
  [1, 'loads-late', 'load.replay', 'load.order'],
  [1, 'dead-after-load', 'load.works'],
  [1, { refuse: { 'session/load': -32603 } }, 'load.replay'],
  [1, 'resume-repeats', 'resume.silent'],
  [2, 'resume-without-state', 'resume.state'],
  [2, 'dead-after-resume', 'resume.works'],
  [1, 'no-close', 'close.answer'],
  [2, 'close-goes-on', 'close.silent'],
  [1, 'early-update', 'ready.new'],
  [2, 'early-update', 'ready.new'],
  [1, { race: 'before' }, 'ready.new'],
  [1, 'early-after-load', 'ready.load'],
  [1, 'status-saved', 'status.live'],
  [2, 'status-varies', 'status.same'],
  [1, 'status-updates', 'status.silent'],
  [1, 'status-always-live', 'status.unknown', 'status.closed'],
  [1, { turnComplete: { when: 'before', advertised: false } }, 'turn_complete.advertised'],
  [
    1,
    { turnComplete: { when: 'never' } },
    'turn_complete.end',
    'turn_complete.cancel',
    'turn_complete.refusal',
    'turn_complete.error',
  ],
  [2, { turnComplete: { when: 'never' } }, 'turn_complete.end'],
  [1, { turnComplete: { when: 'twice' } }, 'turn_complete.end', 'turn_complete.cancel'],
  [1, 'no-barrier-after-cancel', 'turn_complete.cancel'],
  [1, 'no-barrier-after-refusal', 'turn_complete.refusal'],
  [1, 'no-barrier-after-error', 'turn_complete.error'],
  [1, 'update-after-barrier', 'turn_complete.last'],
  [2, 'usage-after-barrier', 'turn_complete.last'],
  [1, { turnComplete: { when: 'before', id: 'wrong' } }, 'turn_complete.id'],
  [1, { turnComplete: { when: 'before', id: 'none' } }, 'turn_complete.id'],
  [1, { turnComplete: { when: 'before', id: 'number' } }, 'turn_complete.id'],
  [1, { turnComplete: { when: 'before', id: 'earlier' } }, 'turn_complete.id', 'turn_complete.cancel'],
  [
    1,
    { turnComplete: { when: 'before', id: 'foreign' } },
    'turn_complete.id',
    'turn_complete.end',
    'turn_complete.last',
  ],
  [1, 'barrier-with-other-reason', 'turn_complete.reason'],
  [2, { receipt: 'empty' }, 'lifecycle.receipt'],
  [2, { receipt: 'null' }, 'lifecycle.receipt'],
  [2, { receipt: 'v1' }, 'lifecycle.receipt'],
  [2, 'no-echo', 'lifecycle.echo'],
  [2, 'echo-with-other-id', 'lifecycle.echo'],
  [2, 'never-running', 'lifecycle.running'],
  [2, 'idle-without-reason', 'lifecycle.idle'],
  [2, 'idle-twice', 'lifecycle.idle'],
  [2, 'fails-held-prompts', 'lifecycle.held'],
];

const HANGING: readonly Case[] = [
  [1, 'no-answer', 'wire.answers', 'prompt.end'],
  [1, { turnComplete: { when: 'unanswered' } }, 'prompt.end'],
  [1, 'no-cancel', 'cancel.reason'],
  [1, 'no-rejection', 'permission.rejected'],
  [1, 'close-leaves-open', 'close.cancels'],
  [1, 'status-waits', 'status.running'],
  [1, { status: { answer: 'silent' } }, 'status.live'],
  [2, 'never-idle', 'prompt.end', 'lifecycle.idle'],
  [2, 'keeps-held-prompts', 'lifecycle.held'],
];
const SHORT: Partial<CheckLimits> = { output: 100, request: 200, prompt: 200, cancel: 200, noise: 100 };

const ALLOWED: readonly Case[] = [
  [1, { turnComplete: { when: 'after' } }],
  [1, { turnComplete: { when: 'late' } }],
  [1, { lifecycle: 'echo-first' }],
  [1, { lifecycle: 'receipt-first' }],
  [2, { echo: 'after' }],
  [2, { echo: 'chunks' }],
  [2, { stateWord: 'state_change' }],
];

describe('Check Conformance', () => {
  for (const version of [1, 2] as const) {
    it(`passes the reference agent in version ${version}`, async () => {
      const { report, violations } = await checkReference(WHOLE, version);
      assert.deepEqual(
        report.versions.map((one) => [one.version, one.stopped]),
        [[version, undefined]],
      );
      assert.deepEqual(rulesOf(report, 'breaks'), []);
      assert.deepEqual(rulesOf(report, 'not-shown'), []);
      const notOffered =
        version === 1 ? RULES.filter((rule) => groupOf(rule) === 'prompt lifecycle').map(({ id }) => id) : [];
      assert.deepEqual(rulesOf(report, 'not-offered'), notOffered);
      assert.deepEqual(
        violations.filter((violation) => !TRIALS.test(violation)),
        [],
      );
    });
  }

  it('sends at most the number of prompts shown to the user', async () => {
    const reports = await Promise.all([1, 2].map((version) => checkReference(WHOLE, version as 1 | 2)));
    const sent = reports
      .flatMap(({ report }) => report.versions.flatMap(({ lines }) => lines))
      .filter(({ dir, message }) => dir === 'sent' && message?.method === 'session/prompt')
      // Two prompts are sent only if they have a text.
      .filter(({ text }) => !/stop refusal|oops/.test(text));
    assert.ok(sent.length <= MAX_PROMPTS, `${sent.length}`);
  });

  it('lists parts that an agent does not offer', async () => {
    const { report } = await checkReference({ ready: { path: ['nowhere'] } }, 1);
    const groups = /^(?:list|load|resume|close|session\/ready|session\/status|turn_complete|prompt lifecycle)$/;
    const expected = RULES.filter((rule) => groups.test(groupOf(rule)) && rule.version !== 2).map(({ id }) => id);
    assert.deepEqual(rulesOf(report, 'not-offered'), expected);
    assert.deepEqual(rulesOf(report, 'breaks'), []);
  });

  describe('with a fault of the agent, or none', () => {
    const faulty = [...CASES.map((one) => [one, {}] as const), ...HANGING.map((one) => [one, SHORT] as const)];
    const all = [...faulty, ...ALLOWED.map((one) => [one, {}] as const)];
    // The fast tier tests the first fault of each group of rules.
    const groups = new Set<string>();
    const tried = all.filter(([[, , rule]]) => {
      const group = rule?.split('.')[0] ?? '';
      return seeds(0, 1) > 0 || (!groups.has(group) && groups.add(group));
    });
    let reports: readonly ConformanceReport[];

    // In parallel, because the check mostly waits.
    before(async function () {
      this.timeout(60_000);
      reports = await Promise.all(
        tried.map(async ([[version, fault], limits]) => {
          const script = typeof fault === 'string' ? { faults: [fault] } : fault;
          return (await checkReference({ ...WHOLE, ...script }, version, limits)).report;
        }),
      );
    });

    for (const [index, [[version, fault, ...rules]]] of tried.entries())
      it(`reports ${rules.join(', ') || 'nothing'} for ${JSON.stringify(fault)} in version ${version}`, () => {
        const { versions } = reports[index] as ConformanceReport;
        const broken = versions.flatMap(({ verdicts }) => verdicts.filter(({ verdict }) => verdict === 'breaks'));
        const ids = broken.map(({ id }) => id);
        assert.deepEqual(
          rules.filter((id) => !ids.includes(id)),
          [],
          `named: ${ids.join(', ')}`,
        );
        if (rules.length === 0) assert.deepEqual(ids, []);
        for (const { id, lines, place } of broken) assert.ok(lines.length > 0 && place !== '', id);
      });
  });

  it('has a fault of the reference agent for each rule', () => {
    const named = new Set([...CASES, ...HANGING].flatMap(([, , ...rules]) => rules));
    assert.deepEqual(
      RULES.filter(({ id }) => !named.has(id)).map(({ id }) => id),
      [],
    );
    const used = new Set([...CASES, ...HANGING].map(([, fault]) => fault));
    assert.deepEqual(
      Object.keys(REFERENCE_FAULTS).filter((name) => !used.has(name as ReferenceFaultName)),
      [],
    );
  });
});

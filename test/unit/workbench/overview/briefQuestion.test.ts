// Questions in notifications, whose answers apply only to the question shown.
import { strict as assert } from 'node:assert';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { silentLog } from '../../../../src/base/log';
import { Inbox } from '../../../../src/workbench/overview/inbox';
import type { BriefQuestion } from '../../../../src/workbench/overview/notifications';
import { useFakeEditor } from '../../../support/fakeEditor';
import { PlainSessions } from '../../../support/sessions/overview';

useFakeEditor();
const { briefQuestionOf } = await import('../../../../src/workbench/overview/notifications');

const ALLOW = { optionId: 'yes', name: 'Allow', kind: 'allow_once' } as const;
const ALWAYS = { optionId: 'always', name: 'Always allow', kind: 'allow_always' } as const;
const REJECT = { optionId: 'no', name: 'Reject', kind: 'reject_once' } as const;
const NEVER = { optionId: 'never', name: 'Never allow', kind: 'reject_always' } as const;

function running(command: unknown, more: object = {}, patch: PermissionAsk['patch'] = {}): Partial<PermissionAsk> {
  return {
    title: 'Say hello',
    toolCallId: 'c',
    patch: { title: 'Say hello', kind: 'execute', rawInput: { command, ...more }, ...patch },
  };
}

function reading(path: string, more: object = {}): Partial<PermissionAsk> {
  return { title: 'Read', toolCallId: 'c', patch: { kind: 'read', rawInput: { file_path: path, ...more } } };
}

function open() {
  const sessions = new PlainSessions();
  const inbox = new Inbox({
    conversations: sessions,
    windowId: 'window 1',
    titleOf: ({ key }: { readonly key: string }) => key,
    log: silentLog,
  } as unknown as ConstructorParameters<typeof Inbox>[0]);
  const session = sessions.add('s');
  session.begin('t1');
  return { sessions, session, inbox };
}

function shown(request: Partial<PermissionAsk>): BriefQuestion | undefined {
  const { session, inbox } = open();
  session.askFor(request);
  return briefQuestionOf(inbox, 's');
}

describe('a notification about a question', () => {
  it('shows the whole command, and nothing that only the agent says about it', () => {
    for (const request of [
      running('npm test && rm -rf out'),
      running('npm test && rm -rf out', { description: 'Says hello', timeout: 1000, cwd: '/work' }),
      { title: 'Say hello', command: { line: 'npm test && rm -rf out', cwd: '/work' } },
    ])
      assert.equal(shown(request)?.text, 'DEMO wants to run: npm test && rm -rf out');
  });

  it('shows the files to be read', () => {
    assert.equal(shown(reading('/etc/hosts'))?.text, 'DEMO wants to read: /etc/hosts');
  });

  it('offers to allow and reject once, but nothing that is remembered', () => {
    const { answers } = shown({ ...running('ls'), options: [ALWAYS, ALLOW, NEVER, REJECT] }) ?? {};
    assert.deepEqual(
      answers?.map(({ label, choice }) => [label, choice]),
      [
        ['Allow', 1],
        ['Reject', 3],
      ],
    );
    assert.equal(shown({ ...running('ls'), options: [ALWAYS, NEVER] }), undefined);
  });

  it('offers no answers if their labels are ambiguous', () => {
    for (const options of [
      [ALLOW, { ...ALLOW, optionId: 'all', name: 'Allow all edits' }, REJECT],
      [ALLOW, { ...REJECT, name: 'Allow' }],
      [{ ...ALLOW, name: 'x'.repeat(41) }],
      [{ ...ALLOW, name: '' }],
      [{ ...ALLOW, name: 'א' }],
    ])
      assert.equal(shown({ ...running('ls'), options }), undefined, JSON.stringify(options));
  });

  it("offers no answers for a command that can't be shown in full", () => {
    for (const line of [
      '',
      ' ls',
      'ls ',
      'ls  -a',
      'ls\nrm -rf /',
      'ls\r\nrm -rf /',
      'ls\u2028rm -rf /',
      'ls\trm',
      'ls\u00a0-a',
      'ls\u200brm',
      'ls\u200drm',
      'ls\u00adrm',
      'ls \u202egnihton\u202c',
      'ls \u2067x\u2069',
      'ls א 1 ב',
      'ls \u3164',
      'ls \u2800',
      'ls a\ufe0f',
      'ls a\u0301',
      'сurl x',
      'x'.repeat(200),
      'curl -H "Authorization: Bearer abcdefghijklmnop"',
    ]) {
      assert.equal(shown(running(line)), undefined, JSON.stringify(line));
      assert.equal(shown({ command: { line } }), undefined, JSON.stringify(line));
    }
    assert.ok(shown(running('grep -r "Größe" src/café')), 'Latin letters are seen');
  });

  it('offers no answers if the question needs more than one line', () => {
    const diff = { type: 'diff', path: '/work/a', oldText: '', newText: 'x' } as const;
    for (const request of [
      { title: 'npm test' },
      running('ls', { env: { PATH: '/evil' } }),
      running('ls', { dangerouslyDisableSandbox: true }),
      running('ls', { cwd: '/elsewhere' }),
      running(['ls']),
      running('ls', {}, { kind: 'other' }),
      running('ls', {}, { content: [diff] }),
      running('ls', {}, { content: [{ type: 'terminal', terminalId: 't' }] }),
      { ...running('ls'), description: 'And deletes all.' },
      { ...running('ls'), command: { line: 'rm -rf /' } },
      { command: { line: 'ls', cwd: '/elsewhere' } },
      reading('relative'),
      reading('/etc/hosts', { follow: true }),
      reading('/etc/\u202ehosts'),
      { ...reading('/etc/hosts'), command: { line: 'ls' } },
    ])
      assert.equal(shown(request), undefined, JSON.stringify(request));
  });

  it('offers no answers for a change, which needs to be looked at', () => {
    const patch = {
      kind: 'edit',
      rawInput: { file_path: '/work/a', old_string: 'x', new_string: 'y' },
      content: [{ type: 'diff', path: '/work/a', oldText: 'x', newText: 'y' }],
    } as const;
    assert.equal(shown({ title: 'Edit a', toolCallId: 'c', patch }), undefined);
  });

  it('offers no answers while another question is open in the window', () => {
    const { sessions, session, inbox } = open();
    const withdraw = session.askFor(running('ls'));
    assert.ok(briefQuestionOf(inbox, 's'));
    const other = sessions.add('other');
    other.begin('t1');
    other.askFor(running('pwd'));
    assert.equal(briefQuestionOf(inbox, 's'), undefined);
    assert.equal(briefQuestionOf(inbox, 'other'), undefined);
    withdraw();
    assert.equal(briefQuestionOf(inbox, 's'), undefined);
    assert.ok(briefQuestionOf(inbox, 'other'));
  });

  describe('answering', () => {
    async function answered(meanwhile: (setup: ReturnType<typeof open>, withdraw: () => void) => void) {
      const setup = open();
      const withdraw = setup.session.askFor(running('ls'));
      const brief = briefQuestionOf(setup.inbox, 's');
      assert.ok(brief);
      meanwhile(setup, withdraw);
      const done = await setup.inbox.answer(brief.question, 0);
      await new Promise(setImmediate);
      return { done, got: setup.session.answers };
    }

    it('answers the question that was shown', async () => {
      assert.deepEqual(await answered(() => undefined), { done: true, got: ['yes'] });
    });

    it('has no effect once the question was answered elsewhere', async () => {
      const { done, got } = await answered(({ session }) => {
        for (const { id } of session.model.state.permissions.values()) session.answerPermission(id, 'no');
      });
      assert.deepEqual({ done, got }, { done: false, got: ['no'] });
    });

    it('does not answer a later question', async () => {
      const { done, got } = await answered(({ session }, withdraw) => {
        withdraw();
        session.askFor(running('ls'));
      });
      assert.deepEqual({ done, got }, { done: false, got: ['cancelled'] });
    });

    it('does not answer a call that the agent has changed since', async () => {
      for (const rawInput of [
        { command: 'rm -rf /' },
        { command: 'ls', env: { PATH: '/evil' } },
        { command: 'ls', cwd: '/elsewhere' },
      ]) {
        const { done, got } = await answered(({ session }) =>
          session.apply({ type: 'tool_call', toolCallId: 'c', patch: { rawInput }, announced: false }),
        );
        assert.deepEqual({ done, got }, { done: false, got: [] });
      }
    });
  });
});
